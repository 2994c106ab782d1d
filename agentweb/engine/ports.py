"""What the loop needs from outside, as protocols: a model, tools, a policy, an inbox, the person's controls."""

from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Protocol

from agentweb.engine.budgets import Budget
from agentweb.engine.enums import (
    DecisionKind,
    DeltaKind,
    ErrorKind,
    Finish,
    Purpose,
    Resolution,
    Risk,
    StopAfter,
)
from agentweb.engine.events import Passage, Queued
from agentweb.engine.messages import Json, Message, ToolCall
from agentweb.engine.outside import Http, HttpAnswer, HttpRequest, Mailer, Search
from agentweb.engine.terms import Consent, Terms
from agentweb.engine.usage import Usage

# --- the model ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model and the policy see it. ``parameters`` is a JSON Schema of type object."""

    name: str
    label: str
    description: str
    parameters: Mapping[str, Json] = field(hash=False)
    reads: bool = False  # no side effect: may run beside others
    repeatable: bool = False  # running it twice does no more than running it once
    deterministic: bool = False  # the same arguments give the same answer, at least for a while
    shared: bool = False  # it is given its arguments and nothing else, so it answers alike in all conversations
    risk: Risk = Risk.HIGH
    timeout_s: float = 60.0  # for all attempts together
    digest: str = ""  # SHA-256 of the definition
    retries: int = 0  # so often it is tried again, where it is repeatable
    keep_s: float = 0.0  # so long an answer is kept, where it reads and is deterministic
    fact: str = ""  # an admin's words for what a call does, with places for its arguments
    previews: bool = True  # people are shown what a call would do, where the tool can tell
    fallback: str = ""  # the name of the tool that is used instead when this one fails


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """The whole context of one stateless model call. With purpose WRAP_UP no tool may be called."""

    message: str  # id of the message that the answer becomes
    system: str
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...] = ()
    purpose: Purpose = Purpose.TURN


@dataclass(frozen=True, slots=True)
class ModelDelta:
    kind: DeltaKind
    text: str


@dataclass(frozen=True, slots=True)
class ModelReply:
    """The end of a model call. ``text`` and ``thinking`` equal the deltas before it, joined."""

    text: str = ""
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish: Finish = Finish.STOP
    usage: Usage = field(default_factory=Usage)
    extra: Mapping[str, Json] = field(default_factory=dict)


class ModelError(Exception):
    """A model call failed. ``message`` is a sentence for people that says what to do; it never holds a key."""

    def __init__(
        self,
        kind: ErrorKind,
        message: str,
        *,
        retryable: bool = False,
        retry_after_s: float | None = None,
        code: str = "",
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.retryable = retryable
        self.retry_after_s = retry_after_s
        self.code = code


class PreparedCall(Protocol):
    """A request in its final form: ``digest`` is the SHA-256 of the body that will be sent."""

    @property
    def digest(self) -> str: ...

    def stream(self) -> AsyncIterator[ModelDelta | ModelReply]:
        """Deltas, then exactly one reply; raises ModelError. Closing the iterator closes the connection."""
        ...

    def guess(self, text: str, thinking: str) -> Usage:
        """What the call has probably used when it broke off after this much."""
        ...


class Model(Protocol):
    @property
    def name(self) -> str: ...

    def prepare(self, request: ModelRequest) -> PreparedCall: ...


# --- tools --------------------------------------------------------------------------------------------------------


class ToolError(Exception):
    """A tool's own failure: its text becomes the result that the model reads."""


class ToolUnavailable(ToolError):
    """It failed for now: the same call may succeed in a moment."""


class ToolSuspension(Exception):
    """The tool waits for an answer from outside; ``prompt`` says for what. With a ``schema`` (JSON Schema of type
    object) people get a form made from it, and only an answer that fits is taken: the model reads it as JSON."""

    def __init__(self, prompt: str, schema: Mapping[str, Json] | None = None) -> None:
        super().__init__(prompt)
        self.prompt = prompt
        self.schema = schema


@dataclass(frozen=True, slots=True)
class Progress:
    text: str
    fraction: float | None = None


@dataclass(frozen=True, slots=True)
class Output:
    """What a tool gives back. ``content`` is for the model; ``full`` is the whole text where ``content`` is cut."""

    content: str
    full: str = ""


@dataclass(frozen=True, slots=True)
class Preview:
    """What a call would do, found without doing it. ``kind`` names the template: diff, text; ``data`` fills it.

    It must come out the same as long as the call would do the same: whoever agreed to another one is asked again."""

    effect: str
    kind: str = ""
    data: Mapping[str, Json] = field(default_factory=dict)


class Offline:
    """There is no way to web servers here."""

    async def send(self, request: HttpRequest) -> HttpAnswer:
        raise ToolError("Web servers cannot be reached from here.")


@dataclass(frozen=True, slots=True)
class ToolContext:
    """All that a tool gets from outside. ``answer_at``: the address at which a program may answer the call, once, while
    it is suspended; whoever has it may answer. ``workspace`` is the conversation's own folder (made on first write);
    ``search`` and ``mailer`` are None where the site has none."""

    call: str
    workspace: Path
    now: Callable[[], datetime]
    cancelled: Callable[[], bool]
    secrets: Mapping[str, str] = field(default_factory=dict)
    answer_at: str = ""
    http: Http = field(default_factory=Offline)
    search: Search | None = None
    mailer: Mailer | None = None

    def secret(self, name: str) -> str:
        """What the site holds under the name, for a tool that asks for it. Raises ToolError where it holds nothing."""
        if name not in self.secrets:
            raise ToolError(f"The secret {name} is not there for this tool: an admin must enter it, or allow it.")
        return self.secrets[name]


@dataclass(frozen=True, slots=True)
class Done:
    """The call took effect before its worker was lost; ``content`` is its result."""

    content: str


@dataclass(frozen=True, slots=True)
class NotDone:
    """The call took no effect, so it may be run as if for the first time."""


@dataclass(frozen=True, slots=True)
class Unsure:
    """It cannot be told: a person must say."""


Finding = Done | NotDone | Unsure


class Tool(Protocol):
    @property
    def spec(self) -> ToolSpec: ...

    def problems(self, arguments: Mapping[str, Json]) -> list[str]:
        """What is wrong with the arguments, in words for the model; empty when they may run."""
        ...

    def preview(self, arguments: Mapping[str, Json], context: ToolContext) -> Preview | None:
        """Side-effect-free; may block on the file system, so it is called in a thread."""
        ...

    def execute(self, arguments: Mapping[str, Json], context: ToolContext) -> AsyncIterator[Progress | Output]:
        """Progress, then exactly one output; raises ToolError or ToolSuspension. Cancelled by closing it."""
        ...

    async def check(self, arguments: Mapping[str, Json], context: ToolContext) -> Finding:
        """What became of a call with these arguments whose worker was lost. Changes nothing; may raise."""
        ...


class Toolset(Protocol):
    """The tools of one agent, looked up fresh at each call, since an admin may change them while a run works."""

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        """What the model is offered, as snapshotted when the run began."""
        ...

    def find(self, name: str) -> Tool | None: ...

    def context(self, call: str) -> ToolContext: ...


# --- policy -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Ask:
    """``untrusted``: nobody vouches for what the call returns. ``passages``: such texts that were read before."""

    rule: str
    risk: Risk
    requires_comment: bool = False
    terms: Terms | None = None
    untrusted: bool = False
    passages: tuple[Passage, ...] = ()


@dataclass(frozen=True, slots=True)
class Allow:
    """``grant``: the id of what a person agreed to beforehand, which stands here ``instead_of`` asking."""

    rule: str
    grant: str = ""
    instead_of: Ask | None = None
    untrusted: bool = False


@dataclass(frozen=True, slots=True)
class Deny:
    rule: str
    reason: str


Verdict = Allow | Ask | Deny


class Policy(Protocol):
    async def judge(self, calls: tuple[tuple[ToolCall, ToolSpec], ...]) -> tuple[Verdict, ...]:
        """One verdict per call, from the rules in force now. Arguments are those that would run."""
        ...


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person decided about an open call, read from the rows when the transcript was loaded.

    ``seen``: the digest of the preview of what they agreed to, empty where the tool has none."""

    approval: str
    kind: DecisionKind
    by: str
    digest: str
    arguments: Mapping[str, Json] | None = None
    comment: str = ""
    response: str = ""
    seen: str = ""
    consents: tuple[Consent, ...] = ()


@dataclass(frozen=True, slots=True)
class Answer:
    """What came from outside about a call that waits for it, read from the rows: what became of it (``outcome``), or
    with None the result itself. ``content`` is for the model, ``full`` the whole text where that is cut."""

    id: str
    by: str
    outcome: Resolution | None = None
    content: str = ""
    full: str = ""
    is_error: bool = False
    comment: str = ""


class Goal(Protocol):
    """Something that must be true of an answer before the run ends with it."""

    @property
    def kind(self) -> str: ...

    @property
    def subject(self) -> str:
        """What is looked at: a path, a name; empty for the answer itself."""
        ...

    @property
    def label(self) -> str:
        """The name that people gave it, perhaps none."""
        ...

    @property
    def words(self) -> str:
        """The goal as the model reads it, never empty."""
        ...

    async def check(self, answer: str) -> str:
        """What is missing, as a sentence for the model; empty when the goal is reached. May raise."""
        ...


class Budgets(Protocol):
    """What may still be spent, by whoever shares in it with the run; looked up before each model call."""

    async def current(self) -> tuple[Budget, ...]: ...


class Unlimited:
    """No budget speaks of the run."""

    async def current(self) -> tuple[Budget, ...]:
        return ()


# --- people -------------------------------------------------------------------------------------------------------


class Inbox(Protocol):
    """Messages that people left for a live run. Looking takes nothing: the journal takes them with the event."""

    async def steering(self) -> tuple[Queued, ...]: ...

    async def follow_ups(self) -> tuple[Queued, ...]: ...


class Controls(Protocol):
    """What people asked of the run while it works."""

    @property
    def cancelled(self) -> bool: ...

    @property
    def stop_after(self) -> StopAfter | None: ...

    async def wait_cancelled(self) -> None:
        """Return when the run is cancelled, within a second of the request."""
        ...
