"""Folding older messages before a model call, when they no longer fit: the model sums them up, or they are left out."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from agentweb.engine import sentences
from agentweb.engine.context import Plan, as_window, estimate, material, overhead, shortened
from agentweb.engine.enums import ErrorKind, Purpose, Reason, Strategy
from agentweb.engine.events import ContextFolded, ModelRetried, Step, SummaryRequested
from agentweb.engine.extending import shaped
from agentweb.engine.messages import UserMessage
from agentweb.engine.ports import ModelError, ModelReply, ModelRequest
from agentweb.engine.racing import unless_cancelled
from agentweb.engine.reasoning import fault_of, has_stand_in, replace_model, stream, wait_before
from agentweb.engine.transcript import Transcript
from agentweb.engine.usage import Usage
from agentweb.engine.work import Work

LONGEST_NOTES = 4_000  # characters
SPENT = (Reason.TOKENS, Reason.COST, Reason.TIME)


@dataclass(slots=True)
class _Summary:
    """A summary that is being made, for the fold ``message``, from ``room`` tokens of material at most."""

    message: str
    plan: Plan
    room: int
    attempt: int = 1
    seconds: float = 0.0
    notes: str = ""
    reply: ModelReply | None = None
    usage: Usage = field(default_factory=Usage)


async def fold(work: Work, purpose: Purpose) -> AsyncGenerator[Step, None]:
    """Fold if it must be. Messages are left out when no summary is wanted, none can be paid for, or none is made."""
    setup = work.setup
    found = work.fold_plan(forced=work.transcript.must_fold)
    if found is None or (purpose is Purpose.WRAP_UP and not found.tight):
        return
    summary = _Summary(setup.new_id(), found, work.folding.room)
    if setup.folding.strategy is Strategy.WINDOW or (work.limit and work.limit.reason in SPENT):
        _leave_out(work, summary)
        return
    async with aclosing(_sum_up(work, summary)) as steps:
        async for step in steps:
            yield step


def summary_request(
    transcript: Transcript, message: str, messages: Sequence[str], folds: Sequence[str], room: int, notes: bool
) -> ModelRequest:
    """What a model is sent that sums up; the audit makes it again by this."""
    said = UserMessage(message, material(transcript, messages, folds, room, notes=notes))
    system = sentences.SUM_UP_A_PIECE if notes else sentences.SUM_UP
    return ModelRequest(message, system, (said,), (), Purpose.FOLD)


async def _sum_up(work: Work, summary: _Summary) -> AsyncGenerator[Step, None]:
    """Ask until there is a summary, as often as for any message, and then the fallback as often. After a cancel nothing
    is asked or left out."""
    while summary.reply is None and not work.cancelled:
        try:
            async with aclosing(_ask(work, summary)) as steps:
                async for step in steps:
                    yield step
        except ModelError as error:
            if work.cancelled and summary.reply is None:
                return
            if not _tries_again(work, summary, error):
                if not has_stand_in(work, error):
                    _leave_out(work, summary, error)
                    return
                replace_model(work, error)
                summary.room, summary.attempt, summary.reply = work.folding.room, 1, None
                continue
            wait = wait_before(error, summary.attempt, work.setup)
            work.add(ModelRetried(work.transcript.turn, summary.attempt, fault_of(error), wait))
            yield work.take()
            await unless_cancelled(work.setup.controls, work.setup.sleep(wait))
            summary.attempt += 1
    if summary.reply is not None:
        text, _marker, notes = summary.reply.text.partition(sentences.NOTES)
        summary.notes = shortened(notes.lstrip("*").strip(), LONGEST_NOTES)
        _record(work, summary, work.setup.folding.strategy, sentences.summed_up(text.strip().rstrip("*# \n")))


async def _ask(work: Work, summary: _Summary) -> AsyncGenerator[Step, None]:
    """One model call. Its answer is not streamed to people, who see the fold. Raises ModelError."""
    setup, plan = work.setup, summary.plan
    of = (plan.messages, plan.folds, summary.room, setup.folding.strategy is Strategy.LAYERED)
    request = summary_request(work.transcript, summary.message, *of)
    shape = await shaped(setup.seams, setup.controls, request, work.about)
    work.add(*shape.failures)
    if shape.refused:
        raise shape.refused
    prepared = work.model.prepare(shape.request)
    turn, model = work.transcript.turn, work.model.name
    work.add(SummaryRequested(summary.message, turn, summary.attempt, model, prepared.digest, *of))
    yield work.take()
    began = setup.clock()
    try:
        async with aclosing(stream(work, prepared)) as items:
            async for item in items:
                if isinstance(item, ModelReply):
                    summary.reply, summary.usage = item, summary.usage + item.usage
    finally:
        summary.seconds += setup.clock() - began
    if summary.reply is None and not work.cancelled:
        raise ModelError(ErrorKind.STREAM_INTERRUPTED, sentences.STREAM_ENDED, retryable=True)
    if summary.reply is not None and not summary.reply.text.strip():
        raise ModelError(ErrorKind.EMPTY_RESPONSE, sentences.EMPTY_REPLY)


def _tries_again(work: Work, summary: _Summary, error: ModelError) -> bool:
    """Whether to ask once more; with less to read where that was too much."""
    if error.kind is ErrorKind.CONTEXT_LENGTH:
        summary.room //= 2
    elif not error.retryable:
        return False
    return summary.attempt < work.setup.limits.model_attempts


def _leave_out(work: Work, summary: _Summary, error: ModelError | None = None) -> None:
    summary.plan = as_window(work.transcript, summary.plan)
    _record(work, summary, Strategy.WINDOW, sentences.left_out(summary.plan.count), error)


def _record(work: Work, summary: _Summary, strategy: Strategy, text: str, error: ModelError | None = None) -> None:
    setup, plan = work.setup, summary.plan
    event = ContextFolded(
        message=summary.message,
        turn=work.transcript.turn,
        strategy=strategy,
        messages=plan.messages,
        folds=plan.folds,
        count=plan.count,
        text=text,
        before=plan.before,
        after=0,
        usage=replace(summary.usage, turns=0, model_calls=0, tool_calls=0, seconds=summary.seconds),
        seconds=summary.seconds,
        error=fault_of(error) if error is not None else None,
        notes=summary.notes,
    )
    after = replace(work.transcript, folds=list(work.transcript.folds))
    after.apply(event)
    tokens = estimate(after, lambda: overhead(setup.system, setup.tools.specs))
    work.add(replace(event, after=tokens))
