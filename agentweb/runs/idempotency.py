"""Requests that were answered already: sent again with the same key, they change nothing and get the same answer."""

from collections.abc import Callable
from typing import Any, TypeVar

from django.conf import settings
from django.db import IntegrityError, models, transaction
from django.utils.translation import gettext as _

from agentweb.runs.errors import Invalid
from agentweb.schema.text import clean
from agentweb.teams import fixed
from agentweb.teams.models import User

MAX_KEY = 200


class IdempotencyKey(models.Model):
    """A request that was already answered, so that sending it again changes nothing."""

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="idempotency_keys")
    key = models.CharField(max_length=200)
    fingerprint = models.CharField(max_length=64)
    answer = models.JSONField()
    created_at = models.DateTimeField(auto_now_add=True, db_index=True)

    class Meta:
        constraints = [models.UniqueConstraint(fields=["user", "key"], name="one_answer_per_idempotency_key")]


_ANSWERED = fixed.Query(
    lambda user, key: IdempotencyKey.objects.filter(user=user, key=key).order_by(),
    user=models.BigAutoField(),
    key=models.CharField(),
)

Answer = dict[str, Any]
Made = TypeVar("Made")


def once(
    user: User, key: str, fingerprint: str, do: Callable[[], tuple[Made, Answer]], again: Callable[[Answer], Made]
) -> Made:
    """What ``do`` makes, with the answer to keep under the key; or what ``again`` makes of the answer kept before.

    One transaction, done again when somebody else was quicker. ``fingerprint`` says what is asked for. Raises Invalid
    for a key that was used for something else. Without a key it is done in any case.
    """
    key = clean(key)
    if len(key) > MAX_KEY:
        raise Invalid(_("The idempotency key is too long."), [("Idempotency-Key", _("At most 200 characters."))])
    for last_try in (False, True):
        try:
            with transaction.atomic():
                if key and (kept := _kept(user, key, fingerprint)) is not None:
                    return again(kept)
                made, answer = do()
                if key:
                    fixed.insert(IdempotencyKey(user=user, key=key, fingerprint=fingerprint, answer=answer))
                return made
        except IntegrityError:  # the same key was used, or a run begun, in the same moment: look again
            if last_try:
                raise
    raise AssertionError("unreachable")


def _kept(user: User, key: str, fingerprint: str) -> Answer | None:
    seen: IdempotencyKey | None = _ANSWERED.first(user=user.pk, key=key)
    if seen is None:
        return None
    if seen.fingerprint != fingerprint:
        text = _("This idempotency key was used for another request.")
        raise Invalid(text, [("Idempotency-Key", text)])
    return dict(seen.answer)
