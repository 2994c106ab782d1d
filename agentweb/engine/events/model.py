"""Events of model calls, and of the context that they are given."""

from dataclasses import dataclass, field

from agentweb.engine.enums import Purpose, Strategy
from agentweb.engine.events.values import ModelFault
from agentweb.engine.messages import AssistantMessage
from agentweb.engine.usage import Usage


@dataclass(frozen=True, slots=True)
class ModelRequested:
    """A model call begins; the message ``message`` starts here and its deltas follow.

    ``digest`` is the SHA-256 of the exact request body, ``attempt`` counts from 1 within the turn."""

    message: str
    turn: int
    attempt: int
    model: str
    digest: str
    purpose: Purpose = Purpose.TURN


@dataclass(frozen=True, slots=True)
class MessageFinished:
    """The whole model message, exactly what was streamed, with what it cost. ``seconds`` is the length of the call."""

    message: AssistantMessage
    usage: Usage
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class MessageInterrupted:
    """A model call ended in the middle. Its text is kept for people, and no call of it ever runs."""

    message: str
    text: str
    thinking: str
    error: ModelFault
    usage: Usage = field(default_factory=Usage)


@dataclass(frozen=True, slots=True)
class ModelRetried:
    """The failed model call is tried again after ``wait`` seconds."""

    turn: int
    attempt: int
    error: ModelFault
    wait: float


@dataclass(frozen=True, slots=True)
class ModelReplaced:
    """The model ``model`` has failed for good, so the agent's fallback ``by`` is asked for the rest of the run."""

    turn: int
    model: str
    by: str
    error: ModelFault


@dataclass(frozen=True, slots=True)
class SummaryRequested:
    """A model is asked to sum up ``messages`` (ids) and the older ``folds`` (their messages' ids), for the fold
    ``message``. It gets ``room`` tokens of them to read at most; ``notes``: working notes are wanted too.
    ``digest`` as of any request."""

    message: str
    turn: int
    attempt: int
    model: str
    digest: str
    messages: tuple[str, ...]
    folds: tuple[str, ...]
    room: int
    notes: bool = False


@dataclass(frozen=True, slots=True)
class ContextFolded:
    """From here on ``text`` is sent to the model, as the message ``message``, instead of ``messages`` (ids) and of what
    stood for the older ``folds`` (their messages' ids), ``count`` messages in all. ``before`` and ``after`` are tokens
    of a request, estimated. ``error``: why there is no summary although the strategy wanted one. ``notes``: the facts
    that the model is to keep in mind from here on; empty: those that it had."""

    message: str
    turn: int
    strategy: Strategy
    messages: tuple[str, ...]
    folds: tuple[str, ...]
    count: int
    text: str
    before: int
    after: int
    usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    error: ModelFault | None = None
    notes: str = ""
