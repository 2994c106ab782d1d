"""API tokens: made once, stored as a digest, looked up by it."""

import hashlib
import secrets
from datetime import timedelta

from django.db.models import CharField, QuerySet
from django.utils import timezone

from agentweb.teams import fixed
from agentweb.teams.models import ApiToken, User

PREFIX = "aw_"
USED_RESOLUTION = timedelta(minutes=1)  # so that a busy token does not write a row per request


def digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def create_token(*, user: User, name: str) -> str:
    """A new token for the person. This is the only time that it can be read."""
    return issue(ApiToken(user=user, name=name))


def issue(row: ApiToken) -> str:
    """Store a new token in a row that names its person and purpose, and return it, this once."""
    token = PREFIX + secrets.token_urlsafe(32)
    row.digest, row.hint = digest(token), token[-4:]
    row.save(force_insert=True)
    return token


def revoke(tokens: QuerySet[ApiToken]) -> int:
    """Make the tokens useless from now on; how many were not before."""
    return tokens.filter(revoked_at=None).update(revoked_at=timezone.now())


_VALID = fixed.Query(
    lambda digest: (
        ApiToken.objects.select_related("user")
        .filter(digest=digest, revoked_at__isnull=True, user__is_active=True)
        .order_by()
    ),
    digest=CharField(),
)


def user_of(token: str) -> User | None:
    """The active person that the token stands for, or None."""
    found: ApiToken | None = _VALID.first(digest=digest(token))
    if found is None:
        return None
    now = timezone.now()
    if found.used_at is None or now - found.used_at > USED_RESOLUTION:
        ApiToken.objects.filter(pk=found.pk).update(used_at=now)
    return found.user
