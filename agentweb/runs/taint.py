"""Whether a conversation holds text that nobody vouches for, and how a person clears that."""

import hashlib
from collections.abc import Iterable
from datetime import datetime

from django.db import transaction
from django.db.models import BigAutoField, UUIDField
from django.utils import timezone
from django.utils.translation import gettext as _

from agentweb.engine import events
from agentweb.engine.enums import ResultKind
from agentweb.runs import outbox
from agentweb.runs.errors import Conflict, Forbidden
from agentweb.runs.models import Conversation, Run, Taint
from agentweb.teams import fixed
from agentweb.teams.models import User

LONGEST = 600  # characters of a text that are shown again
AT_MOST = 3  # texts that are shown with one question
CARRIES = (ResultKind.OK, ResultKind.ERROR)  # what a tool returned, be it a failure in the words of a stranger

_ARRIVED = fixed.Update(lambda call: Taint.objects.filter(call=call, arrived_at=None), call=UUIDField())
_STANDING = fixed.Query(
    lambda conversation: Taint.objects.filter(
        conversation=conversation, cleared_at=None, arrived_at__isnull=False
    ).order_by("-pk"),
    conversation=BigAutoField(),
)


def started(run: Run, event: events.ToolStarted, now: datetime) -> None:
    """A call began whose result will be untrusted."""
    row = {"conversation_id": run.conversation_id, "run": run, "tool": event.name[:200], "started_at": now}
    Taint.objects.update_or_create(call_id=event.call, defaults=row)


def arrived(event: events.ToolFinished, now: datetime) -> None:
    """A call ended; where its result is untrusted, the conversation is tainted from here on."""
    if event.result.kind in CARRIES:
        _ARRIVED({"text": event.result.content[:LONGEST], "arrived_at": now}, call=event.call)


def standing(conversation: int) -> list[Taint]:
    """The untrusted texts that nobody has cleared, the newest first. One query; takes the row id."""
    return list(_STANDING.all(conversation=conversation))


def passages(conversation: int) -> tuple[events.Passage, ...]:
    """The same as questions show them: the newest few, with where they came from."""
    rows = standing(conversation)[:AT_MOST]
    return tuple(events.Passage(str(row.call_id), row.tool, row.text) for row in rows)


def digest(rows: Iterable[Taint]) -> str:
    """What ties a person's word to the texts that they saw; another one as soon as one more has arrived."""
    return hashlib.sha256(" ".join(sorted(str(row.call_id) for row in rows)).encode()).hexdigest()


def clear(*, user: User, conversation: Conversation, shown: str) -> int:
    """A person has looked and vouches for what was read until now. How many texts that were.

    ``shown``: the digest of the texts that they saw. Raises Forbidden; Conflict when there is nothing to clear any
    more, or other texts than those."""
    if not conversation.may.decide:
        raise Forbidden(_("You can read this conversation but not change it."))
    with transaction.atomic():
        rows = standing(conversation.pk)
        if not rows:
            raise Conflict(_("There is no untrusted text in this conversation any more."), {})
        if digest(rows) != shown:
            raise Conflict(_("Other text was read since this was shown. Look at it before you clear it."), {})
        found = Taint.objects.filter(pk__in=[row.pk for row in rows], cleared_at=None)
        count = found.update(cleared_at=timezone.now(), cleared_by=user)
        latest = conversation.runs.order_by("-pk").first()
        if latest is not None:
            latest.conversation = conversation
            outbox.touch(latest)
    return count
