"""Signed addresses at which programs answer calls that wait for them. Whoever has one may answer that call, once."""

from django.conf import settings
from django.core import signing

SALT = "agentweb.answers"
VALID_S = 30 * 24 * 3600
PATH = "/api/v1/answers/"


def address(call: str) -> str:
    """The address for the call with that public id; without a host where the site does not know its own."""
    return f"{settings.SITE_URL}{PATH}{token_of(call)}"


def token_of(call: str) -> str:
    return signing.dumps(call, salt=SALT)


def call_of(token: str) -> str:
    """The public id of the call. Raises SignatureExpired, or BadSignature for what this site did not sign."""
    found = signing.loads(token, salt=SALT, max_age=VALID_S)
    if not isinstance(found, str):
        raise signing.BadSignature
    return found
