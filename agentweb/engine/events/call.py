"""Events of tool calls, from the rewritten arguments to the one result."""

from collections.abc import Mapping
from dataclasses import dataclass

from agentweb.engine.enums import CallStatus, Resolution
from agentweb.engine.messages import Json, ToolResult


@dataclass(frozen=True, slots=True)
class ArgumentsRewritten:
    """An extension changed the arguments of a call before it was judged."""

    call: str
    name: str
    by: str
    arguments: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """Intent, recorded before the side effect. ``arguments`` are those that run; ``rule`` says what allowed it, and
    ``grant`` is the id of the grant that did, if one did. ``untrusted``: nobody vouches for what it returns."""

    call: str
    name: str
    arguments: Mapping[str, Json]
    rule: str = ""
    attempt: int = 1
    grant: str = ""
    untrusted: bool = False


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """The one result of a call, and the status that the call ends in. ``seconds`` is 0 where nothing ran.

    ``rule`` is the one that refused the call, if one did. ``attempts``: so often the tool was tried; ``kept_s``: it did
    not run, since the answer of so many seconds ago was kept."""

    call: str
    name: str
    result: ToolResult
    status: CallStatus = CallStatus.FINISHED
    seconds: float = 0.0
    rule: str = ""
    attempts: int = 1
    kept_s: float | None = None


@dataclass(frozen=True, slots=True)
class ToolReplaced:
    """The tool ``name`` has failed, as ``failure`` tells, so the call is open again and the tool ``by`` is to answer.

    What was said about the call until now counts for the tool that failed: the other is judged by itself."""

    call: str
    name: str
    by: str
    failure: ToolResult
    seconds: float = 0.0
    attempts: int = 1


@dataclass(frozen=True, slots=True)
class ToolSuspended:
    """The tool waits for something from outside; ``prompt`` says for what. ``schema``: what an answer must fit."""

    call: str
    name: str
    prompt: str
    schema: Mapping[str, Json] | None = None


@dataclass(frozen=True, slots=True)
class OutcomeUnknown:
    """The call had started when its worker was lost: it may or may not have happened, and a person must say."""

    call: str
    name: str


@dataclass(frozen=True, slots=True)
class OutcomeSettled:
    """What became of a call whose worker was lost: said by a person, who has the id ``answer``, or by a seam."""

    call: str
    name: str
    outcome: Resolution
    by: str
    comment: str = ""
    answer: str = ""


@dataclass(frozen=True, slots=True)
class ResultReceived:
    """The result that a suspended call waited for came from outside; ``answer`` is its id there."""

    call: str
    name: str
    by: str
    answer: str
