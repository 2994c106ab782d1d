"""Who a request comes from. Every request and every socket asks, thus with statements that are written once."""

from django.contrib.auth.backends import ModelBackend
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.db.models import BigAutoField, CharField, DateTimeField
from django.utils import timezone

from agentweb.teams import fixed
from agentweb.teams.models import User

_SESSION = fixed.Query(
    lambda session_key, now: Session.objects.filter(session_key=session_key, expire_date__gt=now),
    session_key=CharField(),
    now=DateTimeField(),
)
_USER = fixed.Query(lambda pk: User.objects.filter(pk=pk), pk=BigAutoField())


class SessionStore(db.SessionStore):
    """Sessions in the database, as Django has them. Loaded by SESSION_ENGINE."""

    def _validate_session_key(self, key: str) -> bool:
        """A cookie may hold anything, also what no database takes."""
        return bool(super()._validate_session_key(key)) and key.isalnum()

    def _get_session_from_db(self) -> Session | None:
        found: Session | None = _SESSION.first(session_key=self.session_key, now=timezone.now())
        if found is None:
            self._session_key = None
        return found


class Backend(ModelBackend):
    """Names and passwords, as Django has them."""

    def get_user(self, user_id: int) -> User | None:
        found: User | None = _USER.first(pk=user_id)
        return found if found is not None and self.user_can_authenticate(found) else None
