"""The reason/act loop. It keeps nothing that matters: called again on the same transcript, it goes on.

Acting comes before reasoning, so that a first start, a resume after a decision and a recovery after a crash are one
path. The shell records each batch before it asks for the next step; if it cannot, it closes the generator and throws
it away together with the transcript. It may also refuse a pause or an answer because someone acted meanwhile: it
records the rest of that batch, and calls again.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from agentweb.engine import sentences
from agentweb.engine.acting import act
from agentweb.engine.barriers import barrier, circles, correction, take_up_answer
from agentweb.engine.closing import A_PERSON, End, end_for
from agentweb.engine.enums import ErrorKind, Outcome, Purpose, Reason, StopAfter
from agentweb.engine.events import (
    FollowUpTaken,
    ModelFault,
    QuestionAsked,
    Queued,
    SteeringTaken,
    Step,
    TurnFinished,
    TurnStarted,
)
from agentweb.engine.extending import begin, conclude, failed, handed_out, look_back, reflect
from agentweb.engine.folding import fold
from agentweb.engine.goals import goals_missed
from agentweb.engine.reasoning import reason
from agentweb.engine.seams import Point
from agentweb.engine.setup import Setup
from agentweb.engine.transcript import Transcript
from agentweb.engine.usage import Usage
from agentweb.engine.work import Work

STOPPED = {StopAfter.REASONING: Reason.AFTER_REASONING, StopAfter.ACTING: Reason.AFTER_ACTING}


async def run(transcript: Transcript, usage: Usage, setup: Setup) -> AsyncGenerator[Step, None]:
    """Batches to record and live events to show, until the run pauses or ends. ``usage`` is what was spent before.

    The transcript is changed as the steps come out. An error of a port is raised, after what had happened until
    then has been given out to be recorded; ``closing.failure`` then says how to end the run."""
    work = Work(transcript, usage, setup)
    if setup.lost and not setup.seams.at(Point.RECOVER) and not work.cancelled:
        work.pause(lost=True)
    try:
        await begin(work)
        while not work.ended:
            await reflect(work)
            async with aclosing(act(work)) as steps:
                async for step in steps:
                    yield step
            await look_back(work)
            purpose = await _next(work)
            if purpose is not None:
                async with aclosing(fold(work, purpose)) as steps:
                    async for step in steps:
                        yield step
                if work.cancelled:
                    continue
                async with aclosing(reason(work, purpose)) as steps:
                    async for step in steps:
                        yield step
            elif work.pending and not work.ended:
                yield work.take()
        await conclude(work)
    except Exception:
        await failed(work, ModelFault(ErrorKind.INTERNAL, sentences.REASONS[Reason.INTERNAL]))
        if work.pending:
            yield work.take()
        raise
    yield work.take()


async def _next(work: Work) -> Purpose | None:
    """What follows the acting: a model call, or None, mostly since the run has paused or ended."""
    transcript, asked = work.transcript, work.transcript.question
    if work.cancelled:
        work.end(end_for(Outcome.CANCELLED, Reason.BY_PERSON))
    elif transcript.open_calls() or (asked and asked.waits):
        if work.stop_after:
            work.end(stopped(work, work.stop_after))
        elif (asked and asked.waits) or any(entry.waits for entry in transcript.open_calls()):
            work.pause()
    elif asked and not asked.taken:
        take_up_answer(work)
    else:
        return await _next_turn(work)
    return None  # perhaps nothing waits: a stop was taken back, or a question was answered, and the run goes on


async def _next_turn(work: Work) -> Purpose | None:
    """Close the turn that is done; then end the run, or open the next turn with the messages that wait for it.

    A turn that is open but lacks its message (a model call failed, a worker was lost) is not counted again."""
    transcript, inbox = work.transcript, work.setup.inbox
    if transcript.turn_open and transcript.replied:
        work.add(TurnFinished(transcript.turn))
    turn = transcript.turn + (not transcript.turn_open)
    steering = await inbox.steering()
    notes = await handed_out(work, Point.STEERING, turn)
    missed = transcript.answered and not (steering or notes) and await goals_missed(work)
    follow_ups: tuple[Queued, ...] = ()
    if transcript.answered and not (steering or notes):
        follow_ups = await inbox.follow_ups()
        notes = await handed_out(work, Point.FOLLOW_UPS, turn)
    if work.cancelled:
        return None
    if end := _end(work, more=bool(steering or notes or follow_ups), missed=missed):
        work.end(end)
        return None
    found = None if transcript.turn_open or steering or follow_ups else circles(work)
    match await barrier(work, found):
        case End() as end:
            return _last_call(work, end)
        case QuestionAsked() as question:
            work.add(question)
            work.pause()
            return None
    if not transcript.turn_open:
        work.add(TurnStarted(transcript.turn + 1))
    if found:
        work.add(correction(work, found))
    if steering:
        work.add(SteeringTaken(transcript.turn, steering))
    if follow_ups:
        work.add(FollowUpTaken(transcript.turn, follow_ups))
    work.add(*notes)
    return Purpose.TURN


def _end(work: Work, *, more: bool, missed: bool) -> End | None:
    """Whether the run ends between two turns. ``more``: people left messages for it; ``missed``: goals are."""
    transcript, stop_after = work.transcript, work.stop_after
    if transcript.answered and not more:
        return end_for(Outcome.ANSWERED, Reason.DONE)
    if stop_after and (missed or transcript.answered or (transcript.acted and stop_after is StopAfter.ACTING)):
        return stopped(work, stop_after)
    return None


def _last_call(work: Work, end: End) -> Purpose | None:
    """The run has to end: the model sums up, unless there is nothing to be summed up."""
    if work.transcript.answered or not work.usage.model_calls:
        work.end(end)  # messages that wait go back to those who wrote them
        return None
    work.limit = end
    return Purpose.WRAP_UP


def stopped(work: Work, after: StopAfter) -> End:
    stop = work.transcript.stop if work.setup.controls.stop_after is None else None
    return end_for(Outcome.STOPPED, STOPPED[after], by=stop.by if stop else A_PERSON)
