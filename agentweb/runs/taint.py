"""Whether a conversation holds text that nobody vouches for, and how a person clears that."""

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


def clear(*, user: User, conversation: Conversation) -> int:
    """A person has looked and vouches for what was read until now. How many texts that were.

    Raises Forbidden; Conflict when there is nothing to clear any more."""
    if not conversation.may.decide:
        raise Forbidden(_("You can read this conversation but not change it."))
    with transaction.atomic():
        rows = Taint.objects.filter(conversation=conversation, cleared_at=None, arrived_at__isnull=False)
        count = rows.update(cleared_at=timezone.now(), cleared_by=user)
        if not count:
            raise Conflict(_("There is no untrusted text in this conversation any more."), {})
        latest = conversation.runs.order_by("-pk").first()
        if latest is not None:
            latest.conversation = conversation
            outbox.touch(latest)
    return count
