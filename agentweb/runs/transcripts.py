"""From rows to what the loop works on: the conversation so far and the place that its live run has reached."""

import json
from collections import defaultdict
from dataclasses import replace

from django.db.models import BigAutoField, PositiveIntegerField, Q

from agentweb.engine.codec import decode
from agentweb.engine.entry import CallEntry, Failure
from agentweb.engine.enums import (
    CallStatus,
    DecisionKind,
    Finish,
    Invalid,
    NoteKind,
    Question,
    Resolution,
    ResultKind,
    Strategy,
)
from agentweb.engine.messages import AssistantMessage, ToolCall, ToolResult, UserMessage
from agentweb.engine.ports import Answer, Decision
from agentweb.engine.terms import Consent
from agentweb.engine.transcript import Asked, Fold, Transcript
from agentweb.engine.usage import Usage
from agentweb.runs import totals
from agentweb.runs.deciders import read_terms
from agentweb.runs.models import Approval, Call, CallAnswer, Event, Message, Run
from agentweb.runs.votes import consents
from agentweb.teams import fixed
from agentweb.toolbox.results import for_model

DECISIONS = {
    Approval.Status.APPROVED: DecisionKind.APPROVE,
    Approval.Status.MODIFIED: DecisionKind.MODIFY,
    Approval.Status.REJECTED: DecisionKind.REJECT,
    Approval.Status.ANSWERED: DecisionKind.RESPOND,
}
ASKED_FOR = ("StopRequested", "ThinkAgainRequested", "QuestionDecided", "ContextFolded", "ModelReplaced")
PLACES = ("TurnStarted", "TurnFinished", "ModelRequested", "MessageFinished", "MessageInterrupted")


FIRST_STEP = 2  # events: the start of the run and its first claim, with which nothing has been asked or answered yet

_STORED = fixed.Query(
    lambda conversation: (
        Message.objects.select_related("author")
        .filter(conversation=conversation, status=Message.Status.FINISHED)
        .order_by("pk")
    ),
    conversation=BigAutoField(),
)
_CALLS = fixed.Query(
    lambda conversation: (
        Call.objects.filter(message__conversation=conversation, message__status=Message.Status.FINISHED)
        .defer("result_full")  # what the model was not told either
        .order_by("message_id", "position")
    ),
    conversation=BigAutoField(),
)
_RUNS = fixed.Query(
    lambda conversation, last: (
        Run.objects.filter(conversation=conversation, pk__lte=last).order_by("pk").values_list("pk", flat=True)
    ),
    conversation=BigAutoField(),
    last=BigAutoField(),
)
_ASKED = fixed.Query(
    lambda run: Approval.objects.select_related("decided_by", "terms").filter(run=run).order_by("pk"),
    run=BigAutoField(),
)
_SAID = fixed.Query(
    lambda run: CallAnswer.objects.select_related("given_by").filter(run=run, taken_at=None).order_by("pk"),
    run=BigAutoField(),
)
_BEGAN = fixed.Query(
    lambda run: (
        Event.objects.filter(run=run, kind="TurnStarted").order_by("-number").values_list("number", flat=True)[:1]
    ),
    run=BigAutoField(),
)
_PLACE = fixed.Query(
    lambda run, began: (
        Event.objects.filter(Q(kind__in=ASKED_FOR) | Q(kind__in=PLACES, number__gte=began), run=run)
        .order_by("number")
        .values_list("kind", "payload")
    ),
    run=BigAutoField(),
    began=PositiveIntegerField(),
)


def load(run: Run) -> tuple[Transcript, Usage]:
    """The transcript and what the run has spent, as the rows stand now; a constant number of queries."""
    stored = _stored(run.conversation_id)
    folds = [row for row in stored if _is_fold(row)]
    others = [row for row in stored if not _is_fold(row)]
    rows = _heard(run, others)
    calls = [call for row in rows for call in row.made]
    started = run.last_event > FIRST_STEP
    asked = {row.call_id: row for row in _ASKED.all(run=run.pk)} if started else {}  # the latest of a call stays
    said = {row.call_id: row for row in _SAID.all(run=run.pk)} if started else {}
    place = _place(run) if started else Transcript()
    transcript = Transcript(
        messages=[_message(row) for row in rows],
        calls={str(call.public_id): _entry(call, asked.get(call.pk), said.get(call.pk)) for call in calls},
        began=sum(not _said_in(run, row) for row in rows),
        question=_asked(asked.get(None)),
        folds=[_fold(row) for row in folds],
        folded_at=sum(row.pk < folds[-1].pk for row in rows) if folds else 0,
        overflows=place.overflows,
        must_fold=place.must_fold,
        cheaper=place.cheaper,
        fallback=place.fallback,
        usages={str(row.public_id): totals.stored(row.usage) for row in rows if row.usage},
        turn=place.turn,
        turn_open=place.turn_open,
        replied=place.replied,
        streaming=place.streaming,
        attempt=place.attempt,
        stop=place.stop,
        thought_again=place.thought_again,
    )
    return transcript, usage_of(run)


def _place(run: Run) -> Transcript:
    """Where the run stands, by the engine's own fold of the few events that say so: those of the last turn that began,
    and what extensions and people asked for before."""
    place = Transcript()
    for kind, payload in _PLACE.all(run=run.pk, began=_BEGAN.first(run=run.pk) or 0):
        place.apply(decode(kind, json.loads(payload)))
    return place


def _is_fold(row: Message) -> bool:
    return row.role == Message.Role.SYSTEM and row.why == NoteKind.FOLDED


def _fold(row: Message) -> Fold:
    more = row.extra
    ids, folds = tuple(more["messages"]), tuple(more["folds"])
    return Fold(str(row.public_id), Strategy(more["strategy"]), ids, folds, more["count"], row.text, more["notes"])


def _said_in(run: Run, row: Message) -> bool:
    """Whether the message came after the run had begun; the one that it answers was there before."""
    return row.run_id == run.pk and not (row.role == Message.Role.USER and row.turn == 0)


def _stored(conversation: int) -> list[Message]:
    """The finished messages of a conversation, each with its calls as ``made``."""
    rows: list[Message] = _STORED.all(conversation=conversation)
    made: dict[int, list[Call]] = defaultdict(list)
    if any(row.role == Message.Role.ASSISTANT for row in rows):
        for call in _CALLS.all(conversation=conversation):
            made[call.message_id].append(call)
    for row in rows:
        row.made = made[row.pk]
    return rows


def _heard(run: Run, rows: list[Message]) -> list[Message]:
    """The rows without answers that were tried again: a run that no new message began answers the last one anew.

    The same as the engine does when it replays the beginning of such a run."""
    if not any(row.role == Message.Role.ASSISTANT for row in rows):
        return rows
    runs: list[int] = _RUNS.all(conversation=run.conversation_id, last=run.pk)
    asked = {row.run_id for row in rows if row.role == Message.Role.USER and row.turn == 0}
    again = [run for run in runs if run not in asked]
    heard: list[Message] = []
    for row in rows:
        while again and row.run_id is not None and again[0] <= row.run_id:
            again.pop(0)
            _forget_answer(heard)
        heard.append(row)
    if again:
        _forget_answer(heard)
    return heard


def _forget_answer(heard: list[Message]) -> None:
    while heard and heard[-1].role == Message.Role.ASSISTANT and not heard[-1].made:
        heard.pop()


def usage_of(run: Run) -> Usage:
    return Usage(
        turns=run.turns,
        model_calls=run.model_calls,
        tool_calls=run.tool_calls,
        input_tokens=run.input_tokens,
        cached_tokens=run.cached_tokens,
        output_tokens=run.output_tokens,
        thinking_tokens=run.thinking_tokens,
        cost=run.cost,
        seconds=run.seconds,
        estimated_calls=run.estimated_calls,
    )


def _message(row: Message) -> UserMessage | AssistantMessage:
    if row.role == Message.Role.USER:
        return UserMessage(str(row.public_id), row.text, row.author.display_name if row.author else "")
    if row.role == Message.Role.SYSTEM:
        return UserMessage(str(row.public_id), row.text, about=NoteKind(row.why), key=row.extra.get("key", ""))
    return AssistantMessage(
        id=str(row.public_id),
        text=row.text,
        thinking=row.thinking,
        calls=tuple(_call(call) for call in row.made),
        finish=Finish(row.finish or Finish.STOP),
        extra=row.extra,
    )


def _call(row: Call) -> ToolCall:
    return ToolCall(
        id=str(row.public_id),
        name=row.asked_name or row.name,
        arguments=row.asked_arguments,
        raw=row.raw,
        provider_id=row.provider_id,
        invalid=Invalid(row.invalid) if row.invalid else None,
        detail=row.detail if row.invalid else "",
        recovered=row.recovered,
        extra=row.extra,
    )


def _entry(row: Call, approval: Approval | None, answer: CallAnswer | None) -> CallEntry:
    result = None
    if row.result is not None:
        result = ToolResult(str(row.public_id), row.result, ResultKind(row.result_kind))
    entry = {
        "call": _call(row),
        "status": CallStatus(row.status),
        "result": result,
        "arguments": row.arguments,
        "attempt": row.attempt,
        "failures": tuple(Failure(each["tool"], each["text"]) for each in row.failures),
        "instead": row.name if row.asked_name else "",
        "answer": _answer(answer) if answer is not None else None,
    }
    if approval is not None:
        entry |= {
            "approval": str(approval.public_id),
            "approval_digest": approval.digest,
            "seen": approval.seen,
            "shown": approval.arguments,
            "decision": _decision(approval),
            "taken": approval.taken_at is not None,
            "expired": approval.status == Approval.Status.EXPIRED,
        }
    return CallEntry(**entry)


def _asked(row: Approval | None) -> Asked | None:
    """The last question about the run, unless it was answered with yes and the run went on."""
    if row is None:
        return None
    decision, taken = _decision(row), row.taken_at is not None
    if taken and row.status in (Approval.Status.APPROVED, Approval.Status.MODIFIED):
        return None
    if taken and decision is not None:
        decision = replace(decision, digest="")  # as the event tells it
    return Asked(
        approval=str(row.public_id),
        about=Question(row.question),
        facts=row.facts or {},
        offer=row.arguments,
        decision=decision,
        taken=taken,
        expired=row.status == Approval.Status.EXPIRED,
    )


def _answer(row: CallAnswer) -> Answer:
    content = for_model(row.content)
    return Answer(
        id=str(row.public_id),
        by=row.by,
        outcome=Resolution(row.outcome) if row.outcome else None,
        content=content,
        full=row.content if content != row.content else "",
        is_error=row.is_error,
        comment=row.comment,
    )


def _decision(approval: Approval) -> Decision | None:
    """What a person decided, or None while the approval waits or when it ended without a person."""
    kind = DECISIONS.get(Approval.Status(approval.status))
    if kind is None:
        return None
    return Decision(
        approval=str(approval.public_id),
        kind=kind,
        by=approval.decided_by.display_name if approval.decided_by else "",
        digest=approval.digest,
        arguments=approval.final_arguments,
        comment=approval.comment,
        response=approval.response,
        seen=approval.final_seen if kind is DecisionKind.MODIFY else approval.seen,
        consents=_consents(approval),
    )


def _consents(approval: Approval) -> tuple[Consent, ...]:
    terms = approval.on_terms
    agreed = approval.status in (Approval.Status.APPROVED, Approval.Status.MODIFIED)
    if terms is None or terms.needed < 2 or not agreed:
        return ()
    read_terms([approval])
    return consents(approval)
