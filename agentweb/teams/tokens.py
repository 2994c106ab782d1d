"""API tokens: made once, stored as a digest, looked up by it."""

import hashlib
import secrets
from datetime import timedelta

from django.utils import timezone

from agentweb.teams.models import ApiToken, User

PREFIX = "aw_"
USED_RESOLUTION = timedelta(minutes=1)  # so that a busy token does not write a row per request


def digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def create_token(*, user: User, name: str) -> str:
    """A new token for the person. This is the only time that it can be read."""
    token = PREFIX + secrets.token_urlsafe(32)
    ApiToken.objects.create(user=user, name=name, digest=digest(token), hint=token[-4:])
    return token


def user_of(token: str) -> User | None:
    """The active person that the token stands for, or None."""
    found = (
        ApiToken.objects.select_related("user")
        .filter(digest=digest(token), revoked_at__isnull=True, user__is_active=True)
        .first()
    )
    if found is None:
        return None
    now = timezone.now()
    if found.used_at is None or now - found.used_at > USED_RESOLUTION:
        ApiToken.objects.filter(pk=found.pk).update(used_at=now)
    return found.user
