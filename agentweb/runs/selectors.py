"""Every way to get at conversations and what hangs on them. Each takes the person, and is the only gate there is."""

import uuid
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import BigAutoField, Prefetch, Q, QuerySet, UUIDField
from django.utils.translation import gettext as _
from structlog.contextvars import bind_contextvars

from agentweb.registry.models import Agent
from agentweb.runs.deciders import mark
from agentweb.runs.errors import NotFound
from agentweb.runs.looks import log_look
from agentweb.runs.models import (
    Approval,
    Call,
    CallAnswer,
    Conversation,
    Event,
    GrantUse,
    Message,
    QueuedMessage,
    Run,
    Visibility,
)
from agentweb.runs.moment import as_of_one_moment
from agentweb.runs.rights import CHATS, rights
from agentweb.teams import fixed
from agentweb.teams.access import role_in
from agentweb.teams.models import Membership, Role, User

TERMS = ("terms__proposed_by",)  # what belongs to an approval on the terms of a rule
ASKED_BY = "run__requested_by"
_CONVERSATION = fixed.Query(
    lambda public_id: (
        Conversation.objects.select_related("team", "owner", "agent__model")
        .filter(public_id=public_id, deleted_at=None)
        .order_by()
    ),
    public_id=UUIDField(),
)
_RUN = fixed.Query(
    lambda public_id: (
        Run.objects.select_related("conversation__team", "conversation__owner", "conversation__agent", "requested_by")
        .select_related("snapshot")
        .defer("snapshot__data")
        .filter(public_id=public_id, conversation__deleted_at=None)
        .order_by()
    ),
    public_id=UUIDField(),
)
_CALL = fixed.Query(
    lambda public_id: (
        Call.objects.select_related("message", "run__snapshot", ASKED_BY)
        .select_related("run__conversation__team", "run__conversation__owner")
        .filter(public_id=public_id, run__conversation__deleted_at=None)
        .order_by()
    ),
    public_id=UUIDField(),
)
_MESSAGE = fixed.Query(
    lambda public_id: (
        Message.objects.select_related("author", "run")
        .select_related("conversation__team", "conversation__owner", "conversation__agent")
        .filter(public_id=public_id, conversation__deleted_at=None)
        .order_by()
    ),
    public_id=UUIDField(),
)
_ASKED = fixed.Query(lambda call: _approvals().filter(call=call), call=BigAutoField())
_USED = fixed.Query(
    lambda call: (
        GrantUse.objects.select_related("grant__given_by", "grant__run__conversation").filter(call=call).order_by()
    ),
    call=BigAutoField(),
)
_SAID = fixed.Query(lambda call: _answers().filter(call=call), call=BigAutoField())


def conversation_for(user: User, public_id: str | uuid.UUID) -> Conversation:
    """The conversation, with the person's rights as ``may``. Raises NotFound. A look by office is logged."""
    found = _CONVERSATION.first(public_id=_id(public_id))
    if found is None:
        raise NotFound(_("There is no such conversation, or it is not yours to see."))
    return _admit(user, found)


def run_for(user: User, public_id: str | uuid.UUID) -> Run:
    found: Run | None = _RUN.first(public_id=_id(public_id))
    if found is None:
        raise NotFound(_("There is no such run, or it is not yours to see."))
    _admit(user, found.conversation)
    return found


def approval_for(user: User, public_id: str | uuid.UUID) -> Approval:
    """The approval, knowing what this person may do about it (``may_decide``, ``may_reject``, ``why_not``)."""
    found = (
        Approval.objects.select_related("call", "run__snapshot", "run__agent", "run__conversation__team", *TERMS)
        .select_related("decided_by", ASKED_BY)
        .filter(public_id=_id(public_id), run__conversation__deleted_at=None)
        .first()
    )
    if found is None:
        raise NotFound(_("There is no such approval, or it is not yours to see."))
    _admit(user, found.run.conversation)
    mark(user, [found])
    return found


def call_for(user: User, public_id: str | uuid.UUID) -> Call:
    """The call with its latest approval as ``approval`` and answer as ``answer`` (or None)."""
    found = _call_with_parts(_id(public_id))
    if found is None:
        raise NotFound(_("There is no such call, or it is not yours to see."))
    call = with_approval(found, found.run, _admit(user, found.run.conversation))
    if call.approval is not None:
        mark(user, [call.approval])
    return call


@as_of_one_moment
def _call_with_parts(public_id: uuid.UUID) -> Call | None:
    found: Call | None = _CALL.first(public_id=public_id)
    if found is not None:
        found.asked, found.said = _ASKED.all(call=found.pk), _SAID.all(call=found.pk)
        found.used = _USED.first(call=found.pk)
    return found


def call_in(user: User, run_id: str | uuid.UUID, public_id: str | uuid.UUID) -> Call:
    """``call_for`` for an address that names the run too."""
    found = call_for(user, public_id)
    if found.run.public_id != _id(run_id):
        raise NotFound(_("There is no such call, or it is not yours to see."))
    return found


def message_for(user: User, public_id: str | uuid.UUID) -> Message:
    found: Message | None = _MESSAGE.first(public_id=_id(public_id))
    if found is None:
        raise NotFound(_("There is no such message, or it is not yours to see."))
    _admit(user, found.conversation)
    return found


def place_in(conversation: Conversation, anchor: str) -> int | None:
    """The row id of the run in which that part of a conversation stands that ``conversation_for`` let through; None for
    a message outside of runs. ``anchor`` names it as on the page: ``message-…``, ``call-…`` or ``run-…``."""
    kind, _dash, public_id = anchor.partition("-")
    rows = {
        "message": conversation.messages.values_list("run_id", flat=True),
        "call": Call.objects.filter(run__conversation=conversation).values_list("run_id", flat=True),
        "question": Approval.objects.filter(run__conversation=conversation).values_list("run_id", flat=True),
        "run": conversation.runs.values_list("pk", flat=True),
    }
    found = list(rows[kind].filter(public_id=_id(public_id))[:1]) if kind in rows else []
    if not found:
        raise NotFound(_("There is no such message, or it is not yours to see."))
    return found[0]


def queued_for(user: User, run: Run, public_id: str | uuid.UUID) -> QueuedMessage:
    """A queued message of a run that ``run_for`` has let through."""
    found = run.queue.select_related("author").filter(public_id=_id(public_id)).first()
    if found is None:
        raise NotFound(_("There is no such queued message."))
    found.run = run
    return found


def agents_for(user: User) -> QuerySet[Agent]:
    """The agents that the person may start a conversation with."""
    teams = Membership.objects.filter(user=user, role__in=CHATS).values("team_id")
    return Agent.objects.select_related("model", "team").filter(Q(team=None) | Q(team__in=teams), enabled=True)


def agent_for(user: User, public_id: str | uuid.UUID) -> Agent:
    found = agents_for(user).filter(public_id=_id(public_id)).first()
    if found is None:
        raise NotFound(_("There is no such agent, or it is not for your team."))
    return found


def conversations_for(user: User) -> QuerySet[Conversation]:
    """What the person's list shows: their own, their teams' shared ones, and all of the teams they review."""
    mine = Membership.objects.filter(user=user)
    chats = mine.filter(role__in=CHATS).values("team_id")
    reviews = mine.filter(role=Role.REVIEWER).values("team_id")
    return (
        Conversation.objects.select_related("team", "owner", "agent")
        .filter(deleted_at=None)
        .filter(
            Q(owner=user, team__in=mine.values("team_id"))
            | Q(visibility=Visibility.TEAM, team__in=chats)
            | Q(team__in=reviews)
        )
    )


def approvals_for(user: User, *, status: str | None = None, run: Run | None = None) -> QuerySet[Approval]:
    """The approvals in conversations that the person sees, newest first."""
    found = Approval.objects.select_related(
        "call", "run__conversation__team", "run__conversation__owner", "decided_by", "replaces", "grant"
    )
    found = found.select_related(ASKED_BY, *TERMS).filter(run__conversation__in=_seen(user))
    if status is not None:
        found = found.filter(status=status)
    if run is not None:
        found = found.filter(run=run)
    return found


def mark_decidable(user: User, approvals: Iterable[Approval]) -> list[Approval]:
    """The same approvals, each knowing what this person may do about it; a constant number of queries."""
    roles = dict(Membership.objects.filter(user=user).values_list("team_id", "role"))
    marked = list(approvals)
    for approval in marked:
        conversation = approval.run.conversation
        conversation.may = rights(user=user, conversation=conversation, role=roles.get(conversation.team_id))
    mark(user, marked)
    return marked


# --- the transcript, for programs -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Item:
    """One entry of a transcript as programs see it."""

    id: str
    role: str
    text: str
    created_at: datetime
    thinking: str = ""
    tool_calls: tuple[dict[str, Any], ...] = ()
    tool_call_id: str | None = None


@as_of_one_moment
def transcript_page(conversation: Conversation, *, after: int = 0, limit: int = 100) -> tuple[list[Item], int | None]:
    """Entries behind message ``after`` (a row id), and the row id to go on from, or None at the end."""
    rows = list(
        conversation.messages.filter(pk__gt=after)
        .filter(status=Message.Status.FINISHED)
        .prefetch_related("calls")[: limit + 1]
    )
    items = [item for row in rows[:limit] for item in _items(row)]
    return items, rows[limit - 1].pk if len(rows) > limit else None


def _items(row: Message) -> Iterable[Item]:
    calls = list(row.calls.all())
    yield Item(
        id=str(row.public_id),
        role=row.role,
        text=row.text,
        thinking=row.thinking,
        created_at=row.created_at,
        tool_calls=tuple(
            {"id": str(call.public_id), "name": call.asked_name or call.name, "arguments": call.asked_arguments}
            for call in calls
        ),
    )
    for call in calls:
        if call.result is not None:
            yield Item(
                id=f"{call.public_id}",
                role="tool",
                text=call.result,
                created_at=call.finished_at or row.created_at,
                tool_call_id=str(call.public_id),
            )


def events_after(run: Run, number: int, limit: int = 500) -> list[Event]:
    return list(run.events.filter(number__gt=number).order_by("number")[:limit])


@as_of_one_moment
def calls_of(run: Run) -> list[Call]:
    """The run's calls in the order asked, each with its approvals as ``asked``, newest first."""
    return list(run.calls.prefetch_related(approvals_of_calls(), grants_of_calls()))


def queue_of(run: Run) -> list[QueuedMessage]:
    """The messages that wait in the run's inbox."""
    return list(run.queue.select_related("author").filter(status=QueuedMessage.Status.QUEUED))


def latest_run(conversation: Conversation) -> Run | None:
    return conversation.runs.order_by("-pk").first()


def approvals_of_calls() -> Prefetch:
    return Prefetch("approvals", _approvals(), to_attr="asked")


def answers_of_calls() -> Prefetch:
    return Prefetch("answers", _answers(), to_attr="said")


def grants_of_calls() -> Prefetch:
    return Prefetch(
        "grant_use", GrantUse.objects.select_related("grant__given_by", "grant__run__conversation"), to_attr="used"
    )


def _approvals() -> QuerySet[Approval]:
    return Approval.objects.select_related("decided_by", "replaces", "grant", *TERMS).order_by("-pk")


def _answers() -> QuerySet[CallAnswer]:
    return CallAnswer.objects.select_related("given_by").order_by("-pk")


def with_approval(call: Call, run: Run, conversation: Conversation) -> Call:
    """The call with its latest ``approval`` and ``answer``, knowing its run and what this person may do with it."""
    call.run = run
    call.answer = call.said[0] if call.said else None
    call.may_decide, call.may_undo = conversation.may.decide, conversation.may.write
    call.approval = call.asked[0] if call.asked else None
    if call.approval is not None:
        call.approval.run, call.approval.call = run, call
        run.conversation = conversation
    return call


# --- the gate -------------------------------------------------------------------------------------------------------


def _seen(user: User) -> QuerySet[Conversation]:
    """Conversations that ``conversation_for`` would let this person see."""
    admins = Membership.objects.filter(user=user, role=Role.ADMIN).values("team_id")
    return Conversation.objects.filter(
        Q(pk__in=conversations_for(user).order_by().values("pk")) | Q(team__in=admins, deleted_at=None)
    )


def _admit(user: User, conversation: Conversation) -> Conversation:
    may = rights(user=user, conversation=conversation, role=role_in(user=user, team_id=conversation.team_id))
    if may is None:
        raise NotFound(_("There is no such conversation, or it is not yours to see."))
    if may.oversight:
        log_look(user=user, conversation=conversation)
    conversation.may, conversation.seen_by = may, user
    bind_contextvars(conversation=str(conversation.public_id))  # lines of the log from here on say what they are about
    return conversation


def _id(public_id: str | uuid.UUID) -> uuid.UUID:
    """A UUID from an address, or one that names nothing when the text is no UUID."""
    if isinstance(public_id, uuid.UUID):
        return public_id
    try:
        return uuid.UUID(public_id)
    except (ValueError, AttributeError, TypeError):
        return uuid.UUID(int=0)
