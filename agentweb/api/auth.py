"""Who calls: a session cookie with its CSRF token, or a bearer token."""

from django.contrib.auth import get_user
from django.http import HttpRequest
from ninja.errors import AuthenticationError, HttpError
from ninja.utils import check_csrf
from structlog.contextvars import bind_contextvars

from agentweb.teams.models import User
from agentweb.teams.tokens import user_of

SAFE = ("GET", "HEAD", "OPTIONS")


def caller(request: HttpRequest) -> User | None:
    """The person who calls, or None. A token that is sent must be right, whoever is signed in beside it."""
    scheme, _space, token = request.headers.get("Authorization", "").partition(" ")
    if scheme:
        return user_of(token.strip()) if scheme.lower() == "bearer" else None
    return request.user if request.user.is_authenticated else None


def caller_again(request: HttpRequest) -> User | None:
    """Who calls, read anew: a token may be revoked, a session ended, a person switched off while a request goes on."""
    if "Authorization" in request.headers:
        return caller(request)
    request.session = type(request.session)(request.session.session_key)
    user = get_user(request)
    return user if user.is_authenticated else None


def authenticate(request: HttpRequest) -> User:
    """For every route. Raises AuthenticationError, or HttpError 403 when a cookie comes without its CSRF token."""
    user = caller(request)
    if user is None:
        raise AuthenticationError
    if request.method not in SAFE and "Authorization" not in request.headers and check_csrf(request) is not None:
        raise HttpError(403, "The CSRF token is missing or wrong. Send it in X-CSRFToken, or use a bearer token.")
    request.user = user
    bind_contextvars(user=user.pk)
    return user
