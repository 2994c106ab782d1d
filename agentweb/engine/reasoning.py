"""Reasoning: one streamed model call. Deltas go out as they come, one message at the end holds the same text."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from agentweb.engine import sentences
from agentweb.engine.closing import End
from agentweb.engine.enums import DeltaKind, ErrorKind, Finish, Outcome, Purpose, Reason
from agentweb.engine.events import (
    Delta,
    MessageFinished,
    MessageInterrupted,
    ModelFault,
    ModelReplaced,
    ModelRequested,
    ModelRetried,
    Step,
)
from agentweb.engine.extending import failed, handed_out, shaped, wrapped_up
from agentweb.engine.messages import AssistantMessage
from agentweb.engine.ports import ModelDelta, ModelError, ModelReply, ModelRequest, PreparedCall
from agentweb.engine.racing import GRACE_S, Feed, close, unless_cancelled
from agentweb.engine.seams import Point
from agentweb.engine.setup import Setup
from agentweb.engine.usage import Usage
from agentweb.engine.work import Work


@dataclass(slots=True)
class Answer:
    """The message as far as it has been streamed. ``reply`` is the model's own end of it."""

    id: str
    began: float
    parts: dict[DeltaKind, list[str]] = field(default_factory=lambda: {kind: [] for kind in DeltaKind})
    length: dict[DeltaKind, int] = field(default_factory=lambda: dict.fromkeys(DeltaKind, 0))
    reply: ModelReply | None = None
    prepared: PreparedCall | None = None

    def grow(self, kind: DeltaKind, text: str) -> Delta:
        delta = Delta(self.id, kind, self.length[kind], text)
        self.parts[kind].append(text)
        self.length[kind] += len(text)
        return delta

    @property
    def text(self) -> str:
        return "".join(self.parts[DeltaKind.TEXT])

    @property
    def thinking(self) -> str:
        return "".join(self.parts[DeltaKind.THINKING])

    def message(self, finish: Finish) -> AssistantMessage:
        """What was streamed, as a message without calls."""
        return AssistantMessage(self.id, self.text, self.thinking, finish=finish)


async def reason(work: Work, purpose: Purpose) -> AsyncGenerator[Step, None]:
    """Ask the model once. A failed call that may be tried again leaves the turn open, and the loop comes back; the last
    call of a run is tried once, and then with the agent's fallback."""
    if purpose is Purpose.WRAP_UP:
        work.add(*await handed_out(work, Point.BEFORE_WRAP_UP, work.transcript.turn))
    async with aclosing(_ask(work, purpose)) as steps:
        async for step in steps:
            yield step
    if purpose is Purpose.WRAP_UP and not work.ended and not work.cancelled:
        async with aclosing(_ask(work, purpose)) as steps:
            async for step in steps:
                yield step
    if work.pending and not work.ended and _is_decided_about(work):
        yield work.take()  # the message is stored before any decision is taken about it


async def _ask(work: Work, purpose: Purpose) -> AsyncGenerator[Step, None]:
    prepared = await _begin(work, purpose)
    answer = Answer(work.transcript.streaming, work.setup.clock(), prepared=prepared)
    yield work.take()
    try:
        async with aclosing(stream(work, prepared)) as items:
            async for item in items:
                if isinstance(item, ModelReply):
                    answer.reply = item
                else:
                    yield answer.grow(item.kind, item.text)
        _finish(work, purpose, answer)
    except ModelError as error:
        await failed(work, fault_of(error))
        if purpose is Purpose.WRAP_UP:
            yield _last_words(work, answer, error)
        elif (wait := _retry(work, answer, error)) is not None:
            yield work.take()
            await unless_cancelled(work.setup.controls, work.setup.sleep(wait))
    except Exception:
        fault = ModelFault(ErrorKind.INTERNAL, sentences.MODEL_CRASHED)
        work.add(_interrupted(work, answer, fault))
        raise
    if purpose is Purpose.WRAP_UP and work.ended:
        await wrapped_up(work, answer.text)


def _is_decided_about(work: Work) -> bool:
    """Whether somebody looks at the message before the run goes on or ends."""
    setup = work.setup
    return bool(work.transcript.open_calls() or setup.goals or setup.seams.at(Point.AFTER_MODEL))


async def _begin(work: Work, purpose: Purpose) -> PreparedCall:
    """Build the request and say that it is made, before its first delta can come."""
    transcript, setup = work.transcript, work.setup
    message = setup.new_id()
    request = ModelRequest(message, setup.system, transcript.history(), setup.tools.specs, purpose)
    shape = await shaped(setup.seams, setup.controls, request, work.about)
    work.add(*shape.failures)
    prepared: PreparedCall
    try:
        prepared = _Refused(shape.refused) if shape.refused else work.model.prepare(shape.request)
    except ModelError as error:
        prepared = _Refused(error)
    turn, attempt = transcript.turn, transcript.attempt + 1
    work.add(ModelRequested(message, turn, attempt, work.model.name, prepared.digest, purpose))
    return prepared


def _finish(work: Work, purpose: Purpose, answer: Answer) -> None:
    """Record the whole message, also one that a person broke off. Raises ModelError for one that says nothing."""
    spent = _cost(answer, work.setup.clock() - answer.began)
    reply = answer.reply
    if reply is None:
        if not work.cancelled:
            raise ModelError(ErrorKind.STREAM_INTERRUPTED, sentences.STREAM_ENDED, retryable=True)
        work.add(MessageFinished(answer.message(Finish.CANCELLED), spent, spent.seconds))
        return
    calls = () if purpose is Purpose.WRAP_UP else reply.calls
    if not reply.text.strip() and not calls:
        raise ModelError(ErrorKind.EMPTY_RESPONSE, sentences.EMPTY_REPLY, retryable=True)
    finish = reply.finish if calls == reply.calls else Finish.STOP
    message = AssistantMessage(answer.id, reply.text, reply.thinking, calls, finish, reply.extra)
    work.add(MessageFinished(message, spent, spent.seconds))
    if purpose is Purpose.WRAP_UP:
        _end(work)


def _cost(answer: Answer, seconds: float) -> Usage:
    """What the model server reports of this call, or a guess for an answer that broke off; a call that said nothing is
    taken to cost nothing. Calls and turns are counted by their own events."""
    reported = Usage()
    if answer.reply is not None:
        reported = answer.reply.usage
    elif answer.prepared is not None and (answer.text or answer.thinking):
        reported = answer.prepared.guess(answer.text, answer.thinking)
    return replace(reported, turns=0, model_calls=0, tool_calls=0, seconds=seconds)


def _end(work: Work) -> None:
    """The model was asked a last time, for the limit that the loop has named."""
    assert work.limit is not None
    work.end(work.limit)


def _last_words(work: Work, answer: Answer, error: ModelError) -> Step:
    """The wrap-up failed: the fallback is asked, or else our own sentence ends the run."""
    if not has_stand_in(work, error):
        return _say_unfinished(work, answer)
    work.add(_interrupted(work, answer, fault_of(error)))
    replace_model(work, error)
    return work.take()


def _say_unfinished(work: Work, answer: Answer) -> Delta:
    """Our own sentence follows what had been shown, so the message still equals its deltas."""
    gap = "\n\n" if answer.text else ""
    seconds = work.setup.clock() - answer.began
    cost = _cost(answer, seconds)
    delta = answer.grow(DeltaKind.TEXT, gap + sentences.UNFINISHED)
    work.add(MessageFinished(answer.message(Finish.STOP), cost, seconds))
    _end(work)
    return delta


def _retry(work: Work, answer: Answer, error: ModelError) -> float | None:
    """Keep what was shown as interrupted (no call of it ever runs), then announce another attempt and return the
    seconds to wait for it (0 too where another model is asked from here on), or end the run."""
    setup, turn, attempt = work.setup, work.transcript.turn, work.transcript.attempt
    fault = fault_of(error)
    work.add(_interrupted(work, answer, fault))
    if _fits_when_folded(work, error):
        work.add(ModelRetried(turn, attempt, fault, 0.0))
        return 0.0
    if error.retryable and attempt < setup.limits.model_attempts and not work.cancelled:
        wait = wait_before(error, attempt, setup)
        work.add(ModelRetried(turn, attempt, fault, wait))
        return wait
    if has_stand_in(work, error):
        replace_model(work, error)
        return 0.0
    if not work.cancelled:
        work.end(End(Outcome.FAILED, Reason.MODEL_ERROR, error.message, fault))
    return None


def has_stand_in(work: Work, error: ModelError) -> bool:
    """Whether another model is to be asked now that the model has failed for good: once in a run, and not for what an
    extension forbids."""
    spent = work.transcript.fallback or work.cancelled or error.kind is ErrorKind.INTERNAL
    return not spent and work.setup.fallback is not None


def replace_model(work: Work, error: ModelError) -> None:
    """The agent's fallback is asked from here on, and that is said."""
    assert work.setup.fallback is not None
    work.add(ModelReplaced(work.transcript.turn, work.model.name, work.setup.fallback.name, fault_of(error)))


def _fits_when_folded(work: Work, error: ModelError) -> bool:
    """The context was too long for the first time in this turn, and can be made shorter."""
    if error.kind is not ErrorKind.CONTEXT_LENGTH or work.transcript.overflows > 1 or work.cancelled:
        return False
    return work.fold_plan(forced=True) is not None


def fault_of(error: ModelError) -> ModelFault:
    return ModelFault(error.kind, error.message, error.retryable)


def _interrupted(work: Work, answer: Answer, fault: ModelFault) -> MessageInterrupted:
    usage = _cost(answer, work.setup.clock() - answer.began)
    return MessageInterrupted(answer.id, answer.text, answer.thinking, fault, usage)


def wait_before(error: ModelError, attempt: int, setup: Setup) -> float:
    """Seconds until the next attempt: what the server asks for, or doubling from the base, half of it spread."""
    limits = setup.limits
    if error.retry_after_s is not None:
        return min(max(error.retry_after_s, 0.0), limits.retry_after_cap_s)
    return min(limits.retry_cap_s, limits.retry_base_s * 2.0 ** (attempt - 1)) * (0.5 + 0.5 * setup.jitter())


@dataclass(frozen=True, slots=True)
class _Refused:
    """A request that could not even be built fails like a call that was made."""

    error: ModelError
    digest: str = ""

    def guess(self, text: str, thinking: str) -> Usage:
        return Usage()

    async def stream(self) -> AsyncIterator[ModelDelta | ModelReply]:
        raise self.error
        yield  # makes this a generator


async def stream(work: Work, prepared: PreparedCall) -> AsyncGenerator[ModelDelta | ModelReply, None]:
    """The model's items until its reply; fewer when the run is cancelled, which is looked at before each of them."""
    async with Feed[ModelDelta | ModelReply | None](work.setup.controls) as feed:
        pump = feed.start(_pump(prepared, feed))
        while not work.cancelled:
            for item in await feed.take():
                if work.cancelled or item is None:
                    return
                if isinstance(item, ModelReply):
                    await asyncio.wait({pump}, timeout=GRACE_S)  # a connection that ends well can be used again
                    yield item
                    return
                yield item


async def _pump(prepared: PreparedCall, feed: Feed[ModelDelta | ModelReply | None]) -> None:
    """Hand on what the model sends, then None. It runs in a task of its own, so that a cancel can break it off."""
    stream = prepared.stream()
    try:
        async for item in stream:
            feed.put(item)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        raise ModelError(ErrorKind.STREAM_INTERRUPTED, sentences.STREAM_ENDED, retryable=True) from error
    finally:
        await close(stream)
    feed.put(None)
