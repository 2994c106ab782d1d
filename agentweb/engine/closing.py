"""How a run ends: whatever is still open gets closed, so that any model server accepts the next message."""

from dataclasses import dataclass

from agentweb.engine import sentences
from agentweb.engine.entry import CallEntry
from agentweb.engine.enums import (
    ApprovalStatus,
    CallStatus,
    DecisionKind,
    ErrorKind,
    Outcome,
    Reason,
    Resolution,
    ResultKind,
)
from agentweb.engine.events import (
    ApprovalDecided,
    Batch,
    Event,
    MessageInterrupted,
    ModelFault,
    OutcomeSettled,
    QuestionDecided,
    ResultReceived,
    RunFinished,
    ToolFinished,
    TurnFinished,
)
from agentweb.engine.messages import ToolResult
from agentweb.engine.transcript import Asked, Transcript
from agentweb.engine.usage import Usage

A_PERSON = "a person"
STATUS_OF = {
    DecisionKind.APPROVE: ApprovalStatus.APPROVED,
    DecisionKind.MODIFY: ApprovalStatus.MODIFIED,
    DecisionKind.REJECT: ApprovalStatus.REJECTED,
    DecisionKind.RESPOND: ApprovalStatus.ANSWERED,
}


@dataclass(frozen=True, slots=True)
class End:
    """How a run ends; ``text`` says why in plain words."""

    outcome: Outcome
    reason: Reason
    text: str
    error: ModelFault | None = None


def end_for(outcome: Outcome, reason: Reason, *, turns: int = 0, by: str = A_PERSON) -> End:
    return End(outcome, reason, sentences.REASONS[reason].format(turns=turns, by=by))


def ending(transcript: Transcript, usage: Usage, end: End) -> Batch:
    """The last events of a run: an interrupted message, each open call with its one result, the turn, the end."""
    events: list[Event] = []
    if transcript.streaming:
        fault = end.error or ModelFault(ErrorKind.STREAM_INTERRUPTED, end.text)
        events.append(MessageInterrupted(transcript.streaming, "", "", fault))
    for entry in transcript.open_calls():
        events += _closed(entry, end.outcome)
    if (asked := transcript.question) and not asked.taken:
        events.append(question_decided(asked) or QuestionDecided(asked.approval, asked.about, ApprovalStatus.CANCELLED))
    if transcript.turn_open:
        events.append(TurnFinished(transcript.turn))
    events.append(RunFinished(end.outcome, end.reason, end.text, usage, end.error))
    return tuple(events)


def cancellation(transcript: Transcript, usage: Usage) -> Batch:
    """What to record when a run is cancelled while nobody works on it."""
    return ending(transcript, usage, end_for(Outcome.CANCELLED, Reason.BY_PERSON))


def failure(transcript: Transcript, usage: Usage, fault: ModelFault, reason: Reason = Reason.INTERNAL) -> Batch:
    """What to record when a run cannot go on. The transcript must be the recorded one, not that of a failed loop."""
    text = sentences.REASONS.get(reason, fault.message)
    return ending(transcript, usage, End(Outcome.FAILED, reason, text, fault))


def decided(entry: CallEntry) -> tuple[ApprovalDecided, ...]:
    """The event by which the run takes up a person's decision (or its expiry), unless it has been recorded."""
    decision = entry.decision
    if decision is not None and decision.approval and not entry.taken:
        final = entry.shown if decision.arguments is None else decision.arguments
        runs = decision.kind in (DecisionKind.APPROVE, DecisionKind.MODIFY)
        return (
            ApprovalDecided(
                approval=decision.approval,
                call=entry.call.id,
                status=STATUS_OF[decision.kind],
                decision=decision.kind,
                by=decision.by,
                comment=decision.comment,
                arguments=final if runs else None,
                response=decision.response,
                seen=decision.seen if runs else "",
                consents=decision.consents,
            ),
        )
    if decision is None and entry.expired and not entry.taken:
        return (ApprovalDecided(entry.approval, entry.call.id, ApprovalStatus.EXPIRED),)
    return ()


def question_decided(asked: Asked | None) -> QuestionDecided | None:
    """The event by which the run takes up what people said about it (or that nobody did), unless it is recorded."""
    if asked is None or asked.taken:
        return None
    decision = asked.decision
    if decision is None:
        expired = QuestionDecided(asked.approval, asked.about, ApprovalStatus.EXPIRED)
        return expired if asked.expired else None
    goes_on = decision.kind in (DecisionKind.APPROVE, DecisionKind.MODIFY)
    final = asked.offer if decision.arguments is None else decision.arguments
    return QuestionDecided(
        asked.approval,
        asked.about,
        STATUS_OF[decision.kind],
        decision.kind,
        decision.by,
        decision.comment,
        final if goes_on else None,
    )


def answered(entry: CallEntry) -> tuple[Event, ...]:
    """The events by which the run takes up what came from outside: the call is closed with it, or open again."""
    answer, call = entry.answer, entry.call
    if answer is None:
        return ()
    if answer.outcome is None:
        kind = ResultKind.ERROR if answer.is_error else ResultKind.OK
        content = after_failures(entry, answer.content or sentences.NO_OUTPUT, ran=True)
        result = ToolResult(call.id, content, kind, answer.full)
        received = ResultReceived(call.id, entry.tool, answer.by, answer.id)
        return received, ToolFinished(call.id, entry.tool, result)
    settled = OutcomeSettled(call.id, entry.tool, answer.outcome, answer.by, answer.comment, answer.id)
    match answer.outcome:
        case Resolution.NOT_DONE:
            return (settled,)
        case Resolution.DONE:
            content = after_failures(entry, sentences.done(answer.by, answer.content), ran=True)
            result = ToolResult(call.id, content, ResultKind.ANSWERED, answer.full)
        case Resolution.TELL_MODEL:
            result = ToolResult(call.id, after_failures(entry, sentences.NOT_KNOWN, ran=True), ResultKind.UNKNOWN)
    return settled, ToolFinished(call.id, entry.tool, result)


def _closed(entry: CallEntry, outcome: Outcome) -> list[Event]:
    events: list[Event] = [*decided(entry), *answered(entry)]
    if any(isinstance(event, ToolFinished) for event in events):
        return events
    if entry.status is CallStatus.WAITING and entry.waits:
        events.append(ApprovalDecided(entry.approval, entry.call.id, ApprovalStatus.CANCELLED))
    kind, text = sentences.closing(outcome, entry.status)
    result = ToolResult(entry.call.id, after_failures(entry, text), kind)
    events.append(ToolFinished(entry.call.id, entry.tool, result, CallStatus.CANCELLED))
    return events


def after_failures(entry: CallEntry, text: str, *, ran: bool = False) -> str:
    """What the model is told of a call, with the tools that failed before the one that was to answer."""
    failures = [(each.tool, each.text) for each in entry.failures]
    return sentences.instead(failures, entry.tool, text, ran=ran) if failures else text
