"""The points at which the loop can be extended. An extension is any object with methods named after the points.

Extensions are asked in the order of their ``priority``, the lowest first; 100 where they say nothing. A plain method
is called in a thread, an async one on the event loop; both are given up after ``timeout_s`` (10 s where they say
nothing) and when the run is cancelled. Each may raise: an error never ends in silence, but is recorded as SeamFailed,
which names the extension and what was done instead. None as an answer means: nothing to say. What an extension is
given it must not change. `docs/seams.md` has an example.
"""

from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol, TypeAlias, TypeVar

from agentweb.engine.entry import CallEntry
from agentweb.engine.enums import Outcome
from agentweb.engine.events import ModelFault
from agentweb.engine.messages import AssistantMessage, Json, Message, ToolCall, ToolResult
from agentweb.engine.ports import Finding, ModelRequest, Tool, ToolContext, ToolSpec
from agentweb.engine.usage import Limits, Usage

PRIORITY = 100
TIMEOUT_S = 10.0


class Point(StrEnum):
    """Where the loop asks its extensions: the names of their methods."""

    BEFORE_RUN = "before_run"
    AFTER_RUN = "after_run"
    TRANSFORM_CONTEXT = "transform_context"
    CONVERT_MESSAGE = "convert_message"
    BEFORE_MODEL = "before_model"
    AFTER_MODEL = "after_model"
    BEFORE_TOOL = "before_tool"
    AFTER_TOOL = "after_tool"
    AFTER_ACTING = "after_acting"
    STEERING = "steering"
    FOLLOW_UPS = "follow_ups"
    API_KEY = "api_key"
    BEFORE_WRAP_UP = "before_wrap_up"
    AFTER_WRAP_UP = "after_wrap_up"
    ERROR = "error"
    RECOVER = "recover"


@dataclass(frozen=True, slots=True)
class Seams:
    """The extensions that are installed."""

    installed: tuple[object, ...] = ()

    def at(self, point: Point) -> list[object]:
        """Those that have something to say at this point, in the order in which they are asked."""
        found = [seam for seam in self.installed if callable(getattr(seam, point, None))]
        return sorted(found, key=lambda seam: getattr(seam, "priority", PRIORITY))


def name_of(seam: object) -> str:
    """How people call the extension: its ``name``, else that of its class."""
    return str(getattr(seam, "name", "") or type(seam).__name__)


# --- what extensions are told and may answer ----------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class About:
    """Where a run stands. ``messages`` is all that was said in the conversation, results included; ``turn`` counts
    from 1, and is 0 before the first."""

    run: str
    conversation: str
    agent: str
    turn: int
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    usage: Usage
    limits: Limits


@dataclass(frozen=True, slots=True)
class Note:
    """A message for the model that no person wrote; people see it too. With a ``key`` it is added once in a
    conversation, however often it is handed out."""

    text: str
    key: str = ""


Notes = str | Note | Sequence[Note | str]


@dataclass(frozen=True, slots=True)
class Stop:
    """The run shall end here, with the outcome stopped."""

    reason: str = ""


@dataclass(frozen=True, slots=True)
class ThinkAgain:
    """The model shall be asked again at once, with these notes; its calls do not run."""

    notes: Notes = ()


@dataclass(frozen=True, slots=True)
class Block:
    """The call shall not run; the model reads why."""

    reason: str


@dataclass(frozen=True, slots=True)
class Rewrite:
    """The call shall run with other arguments."""

    arguments: Mapping[str, Json]


# --- the points -----------------------------------------------------------------------------------------------------

T = TypeVar("T")
Perhaps: TypeAlias = T | Awaitable[T | None] | None


class BeforeRun(Protocol):
    """A run begins. Its notes are recorded before the first turn. Should it fail, the run goes on without them."""

    def before_run(self, about: About) -> Perhaps[Notes]: ...


class AfterRun(Protocol):
    """A run is about to end so; it may still go on when somebody has just written. Changes nothing."""

    def after_run(self, outcome: Outcome, about: About) -> Awaitable[None] | None: ...


class TransformContext(Protocol):
    """Which messages are sent this time; what was said stays as it is. A call without all of its results is mended
    when the request is built. Should it fail, the context is sent as it was before."""

    def transform_context(self, messages: tuple[Message, ...], about: About) -> Perhaps[Sequence[Message]]: ...


class ConvertMessage(Protocol):
    """One message of the context as it is sent, such as without what must not leave the house. None: as it is.

    Should it fail, nothing is sent, and the run ends with a sentence that names it."""

    def convert_message(self, message: Message, about: About) -> Perhaps[Message]: ...


class BeforeModel(Protocol):
    """The whole request, right before it is sent; another one may take its place. The audit makes requests again by
    asking anew, so the answer depends on nothing but what is given. Should it fail, the request stays as it was."""

    def before_model(self, request: ModelRequest, about: About) -> Perhaps[ModelRequest]: ...


class AfterModel(Protocol):
    """The model's message is complete and recorded; nothing was done about it. Changes nothing itself.

    Stop ends the run before any of the calls runs, whatever others say. ThinkAgain asks the model once more within the
    turn, past the turn limit, but only ``limits.think_again`` times in a run. May be asked again about the same message
    when the worker is lost right then. Should it fail, the run goes on."""

    def after_model(self, message: AssistantMessage, about: About) -> Perhaps[Stop | ThinkAgain]: ...


class BeforeTool(Protocol):
    """A call is judged, before policy sees it. Block keeps it from running; Rewrite changes what policy judges, people
    are shown and the tool gets. Asked again whenever the call is judged again, so it has no side effects, and leaves
    arguments alone that it has rewritten: consent is void once they change. Should it fail, the call does not run."""

    def before_tool(
        self, call: ToolCall, spec: ToolSpec, arguments: Mapping[str, Json], about: About
    ) -> Perhaps[Block | Rewrite]: ...


class AfterTool(Protocol):
    """A result, before it is recorded and read by anyone. Another one with other text or kind may take its place.

    Should it fail, the result is withheld: the model reads that it is."""

    def after_tool(self, call: ToolCall, result: ToolResult, about: About) -> Perhaps[ToolResult]: ...


class AfterActing(Protocol):
    """The calls of the last message have run as far as they can; some may wait for a decision or for the outside.

    Stop ends the run, also when all of them wait. Asked again each time that something came in. Should it fail, the
    run goes on."""

    def after_acting(self, about: About) -> Perhaps[Stop]: ...


class Steering(Protocol):
    """A turn has ended. What it hands out is delivered before the next model call, and makes for one. Should it fail,
    the run goes on."""

    def steering(self, about: About) -> Perhaps[Notes]: ...


class FollowUps(Protocol):
    """The run would end. What it hands out starts another round. Should it fail, the run ends."""

    def follow_ups(self, about: About) -> Perhaps[Notes]: ...


class ApiKey(Protocol):
    """The key for a model (by the name of its row) at an endpoint, asked for at each model call. None: the stored one.

    Should it fail, the model call fails."""

    def api_key(self, model: str, base_url: str) -> Perhaps[str]: ...


class BeforeWrapUp(Protocol):
    """A limit is reached, and the model is about to be asked for its last message. Should it fail, it is asked."""

    def before_wrap_up(self, about: About) -> Perhaps[Notes]: ...


class AfterWrapUp(Protocol):
    """The last message at a limit, perhaps our own sentence. Changes nothing."""

    def after_wrap_up(self, text: str, about: About) -> Awaitable[None] | None: ...


class Error(Protocol):
    """A model call failed, or something in the system did. Changes nothing: retries and the end are the loop's."""

    def error(self, fault: ModelFault, about: About) -> Awaitable[None] | None: ...


class Recover(Protocol):
    """A worker was lost in the middle of a call that may not be run twice. What became of it?

    Changes nothing. The first answer that is not Unsure counts; without one, or should it fail, a person is asked.
    Where no extension has this method, a run whose worker was lost waits until a person lets it go on."""

    def recover(self, call: CallEntry, tool: Tool | None, context: ToolContext) -> Perhaps[Finding]: ...
