"""Where the loop asks its extensions, what it does with their answers, and what it does instead when they fail."""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from agentweb.engine import sentences
from agentweb.engine.asking import consult
from agentweb.engine.enums import ErrorKind, NoteKind, ResultKind, StopAfter
from agentweb.engine.events import (
    ModelFault,
    NoteAdded,
    SeamFailed,
    StopRequested,
    ThinkAgainRequested,
    ToolFinished,
)
from agentweb.engine.messages import AssistantMessage, Json, Message, ToolCall, ToolResult, UserMessage
from agentweb.engine.ports import Controls, ModelError, ModelRequest, ToolSpec
from agentweb.engine.seams import (
    About,
    Block,
    Note,
    Notes,
    Point,
    Rewrite,
    Seams,
    Stop,
    ThinkAgain,
    name_of,
)
from agentweb.engine.work import Work

SHAPING = (Point.TRANSFORM_CONTEXT, Point.CONVERT_MESSAGE, Point.BEFORE_MODEL)
GOES_ON = "The run went on without it."
AS_IT_WAS = "The request was sent as it was before."
NOT_SENT = "Nothing was sent to the model."
NOT_RUN = "The call did not run."
WITHHELD = "The result was withheld from the model."


async def _answers(
    work: Work, point: Point, *about: object, patient: bool = False
) -> AsyncIterator[tuple[object, Any]]:
    """What each extension answers, in order; failures are recorded, and the run goes on. Unless ``patient``, it ends
    when the run is cancelled."""
    for seam in work.setup.seams.at(point):
        if work.cancelled and not patient:
            return
        said = await consult(None if patient else work.setup.controls, seam, point, *about, effect=GOES_ON)
        if said.failure:
            work.add(said.failure)
        elif said.value is not None:
            yield seam, said.value


async def _tell(work: Work, point: Point, *about: object) -> None:
    """Let extensions know of something; what they answer does not matter."""
    async for _seam, _answer in _answers(work, point, *about, patient=True):
        pass


# --- notes ----------------------------------------------------------------------------------------------------------


def _added(work: Work, seam: object, notes: Notes, turn: int) -> list[NoteAdded]:
    """The events that add the notes, without those that were given before."""
    given = {message.key for message in work.transcript.messages if isinstance(message, UserMessage) and message.key}
    found: list[NoteAdded] = []
    for each in [notes] if isinstance(notes, str | Note) else notes:
        note = each if isinstance(each, Note) else Note(str(each))
        if note.text.strip() and note.key not in given:
            id = work.setup.new_id()
            found.append(NoteAdded(id, turn, NoteKind.EXTENSION, note.text, name_of(seam), note.key))
            given |= {note.key} - {""}
    return found


async def handed_out(work: Work, point: Point, turn: int) -> list[NoteAdded]:
    """What extensions have to say to the model at this point, not added yet."""
    found: list[NoteAdded] = []
    if work.setup.seams.at(point):
        async for seam, notes in _answers(work, point, work.about()):
            found += _added(work, seam, notes, turn)
    return found


async def begin(work: Work) -> None:
    """Before the first turn of a run, once as far as the record goes."""
    if work.transcript.turn == 0 and not work.ended:
        work.add(*await handed_out(work, Point.BEFORE_RUN, 1))


# --- the model call -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Shaped:
    """A request as extensions want it; ``refused`` when it may not be sent."""

    request: ModelRequest
    failures: tuple[SeamFailed, ...] = ()
    refused: ModelError | None = None

    def with_(self, request: ModelRequest, failure: SeamFailed | None = None) -> "Shaped":
        return replace(self, request=request, failures=(*self.failures, *([failure] if failure else [])))


async def shaped(seams: Seams, controls: Controls | None, request: ModelRequest, about: Callable[[], About]) -> Shaped:
    """Context transform, then message conversion, then a look at the whole. The audit makes requests again by this."""
    shape = Shaped(request)
    for point in SHAPING:
        for seam in seams.at(point):
            if shape.refused is None:
                shape = await _SHAPERS[point](controls, seam, shape, about())
    return shape


async def _transformed(controls: Controls | None, seam: object, shape: Shaped, about: About) -> Shaped:
    messages = shape.request.messages
    said = await consult(controls, seam, Point.TRANSFORM_CONTEXT, messages, about, effect=AS_IT_WAS)
    chosen = messages if said.value is None else tuple(said.value)
    return shape.with_(replace(shape.request, messages=chosen), said.failure)


async def _converted(controls: Controls | None, seam: object, shape: Shaped, about: About) -> Shaped:
    """What could not be looked at might hold what must not leave the house, so nothing is sent then."""
    messages: list[Message] = []
    for message in shape.request.messages:
        said = await consult(controls, seam, Point.CONVERT_MESSAGE, message, about, effect=NOT_SENT)
        if said.failure:
            error = ModelError(ErrorKind.INTERNAL, sentences.not_sent(name_of(seam)))
            return replace(shape.with_(shape.request, said.failure), refused=error)
        messages.append(message if said.value is None else said.value)
    return shape.with_(replace(shape.request, messages=tuple(messages)))


async def _looked_over(controls: Controls | None, seam: object, shape: Shaped, about: About) -> Shaped:
    said = await consult(controls, seam, Point.BEFORE_MODEL, shape.request, about, effect=AS_IT_WAS)
    return shape.with_(said.value or shape.request, said.failure)


_SHAPERS: Mapping[Point, Callable[[Controls | None, object, Shaped, About], Awaitable[Shaped]]] = {
    Point.TRANSFORM_CONTEXT: _transformed,
    Point.CONVERT_MESSAGE: _converted,
    Point.BEFORE_MODEL: _looked_over,
}


async def reflect(work: Work) -> None:
    """After reasoning: extensions may stop the run, or have the model asked again, before anything is done."""
    if not (work.transcript.fresh and work.setup.seams.at(Point.AFTER_MODEL)):
        return
    message = work.transcript.messages[-1]
    assert isinstance(message, AssistantMessage)
    again: list[tuple[object, ThinkAgain]] = []
    async for seam, answer in _answers(work, Point.AFTER_MODEL, message, work.about()):
        if isinstance(answer, Stop):
            work.add(StopRequested(StopAfter.REASONING, name_of(seam), answer.reason))
        else:
            again.append((seam, answer))
    if again and not work.stop_after:
        _think_again(work, message, again)


def _think_again(work: Work, message: AssistantMessage, again: list[tuple[object, ThinkAgain]]) -> None:
    """Close the calls unrun and add the notes; the turn then lacks its message again."""
    transcript, by = work.transcript, ", ".join(name_of(seam) for seam, _answer in again)
    if transcript.thought_again >= work.setup.limits.think_again:
        work.add(ThinkAgainRequested(transcript.turn, by, granted=False))
        return
    for call in message.calls:
        result = ToolResult(call.id, sentences.think_again(by), ResultKind.NOT_RUN)
        work.add(ToolFinished(call.id, call.name, result))
    for seam, answer in again:
        notes = _added(work, seam, answer.notes, transcript.turn)
        work.add(*(notes or _added(work, seam, sentences.THINK_AGAIN, transcript.turn)))
    work.add(ThinkAgainRequested(transcript.turn, by))


# --- tools ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Looked:
    """What extensions make of a call: the arguments to judge, who changed them, or why it may not run."""

    arguments: Mapping[str, Json]
    by: str = ""
    blocked: str = ""


async def before_tool(work: Work, call: ToolCall, spec: ToolSpec, arguments: Mapping[str, Json]) -> Looked:
    """Each extension sees the arguments as the one before left them."""
    looked = Looked(arguments)
    for seam in work.setup.seams.at(Point.BEFORE_TOOL):
        about = (call, spec, looked.arguments, work.about())
        said = await consult(work.setup.controls, seam, Point.BEFORE_TOOL, *about, effect=NOT_RUN)
        if said.failure:
            work.add(said.failure)
            return replace(looked, blocked=sentences.not_looked_at(name_of(seam)))
        match said.value:
            case Block(reason=reason):
                return replace(looked, blocked=sentences.blocked(name_of(seam), reason))
            case Rewrite(arguments=changed) if changed != looked.arguments:
                looked = Looked(changed, name_of(seam))
    return looked


async def after_tool(work: Work, call: ToolCall, result: ToolResult) -> tuple[ToolResult, list[SeamFailed]]:
    """The result as it may be recorded. A cancel does not end the asking, since a result goes out looked at or not at
    all."""
    failures: list[SeamFailed] = []
    for seam in work.setup.seams.at(Point.AFTER_TOOL):
        about = (call, result, work.about())
        said = await consult(None, seam, Point.AFTER_TOOL, *about, effect=WITHHELD)
        if said.failure:
            failures.append(said.failure)
            result = ToolResult(call.id, sentences.withheld(name_of(seam)), ResultKind.ERROR)
        elif said.value is not None:
            result = replace(said.value, call=call.id)
    return result, failures


async def look_back(work: Work) -> None:
    """After acting: each extension may ask for a stop, also when every call waits for somebody."""
    if not work.transcript.called or work.stop_after or not work.setup.seams.at(Point.AFTER_ACTING):
        return
    async for seam, answer in _answers(work, Point.AFTER_ACTING, work.about()):
        work.add(StopRequested(StopAfter.ACTING, name_of(seam), answer.reason))


# --- ends and errors ------------------------------------------------------------------------------------------------


async def wrapped_up(work: Work, text: str) -> None:
    if work.setup.seams.at(Point.AFTER_WRAP_UP):
        await _tell(work, Point.AFTER_WRAP_UP, text, work.about())


async def failed(work: Work, fault: ModelFault) -> None:
    if work.setup.seams.at(Point.ERROR):
        await _tell(work, Point.ERROR, fault, work.about())


async def conclude(work: Work) -> None:
    """Tell extensions how the run is about to end, then end it."""
    if work.ending is None:
        return
    if work.setup.seams.at(Point.AFTER_RUN):
        await _tell(work, Point.AFTER_RUN, work.ending.outcome, work.about())
    work.close()
