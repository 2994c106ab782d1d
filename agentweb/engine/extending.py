"""Where the loop asks its extensions, what it does with their answers, and what it does when they fail."""

from collections.abc import AsyncIterator

from agentweb.engine.enums import StopAfter
from agentweb.engine.events import StopRequested
from agentweb.engine.messages import AssistantMessage
from agentweb.engine.seams import Point, Stop, consult, name_of
from agentweb.engine.work import Work

GOES_ON = "The run went on without it."


async def reflect(work: Work) -> None:
    """After reasoning: each extension may ask for a stop before anything is done about the model's message."""
    if not (work.transcript.fresh and work.setup.seams.at(Point.AFTER_MODEL)):
        return
    message = work.transcript.messages[-1]
    assert isinstance(message, AssistantMessage)
    async for seam, answer in _answers(work, Point.AFTER_MODEL, message, work.about()):
        if isinstance(answer, Stop):
            work.add(StopRequested(StopAfter.REASONING, name_of(seam), answer.reason))


async def look_back(work: Work) -> None:
    """After acting: each extension may ask for a stop, also when every call waits for somebody."""
    if not work.transcript.called or work.stop_after:
        return
    if work.setup.seams.at(Point.AFTER_ACTING):
        async for seam, answer in _answers(work, Point.AFTER_ACTING, work.about()):
            if isinstance(answer, Stop):
                work.add(StopRequested(StopAfter.ACTING, name_of(seam), answer.reason))


async def _answers(
    work: Work, point: Point, *about: object, effect: str = GOES_ON
) -> AsyncIterator[tuple[object, object]]:
    """What each extension answers, in order; failures are recorded. Ends early when the run is cancelled."""
    for seam in work.setup.seams.at(point):
        if work.cancelled:
            return
        said = await consult(work.setup.controls, seam, point, *about, effect=effect)
        if said.failure:
            work.add(said.failure)
        elif said.value is not None:
            yield seam, said.value
