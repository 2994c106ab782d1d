"""The entries of a transcript: what people, the model and tools said, as immutable values."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from agentweb.engine.enums import Finish, Invalid, NoteKind, ResultKind

Json = Any  # a value that the json module can write


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A model's request to use a tool.

    ``id`` is ours and unique; ``provider_id`` is what the model server called it (may be empty or used again).
    ``arguments`` is the parsed object, or None when ``invalid`` says why it can never run; ``raw`` is the argument
    text exactly as it came; ``detail`` says in words what is wrong with it. ``recovered`` marks a call found in the
    text of the answer: it is always asked about. ``extra`` is provider data that must go back unchanged.
    """

    id: str
    name: str
    arguments: Mapping[str, Json] | None
    raw: str = ""
    provider_id: str = ""
    invalid: Invalid | None = None
    detail: str = ""
    recovered: bool = False
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class UserMessage:
    """What a person wrote. ``author`` is a display name; with ``about`` it is the loop itself that speaks, and ``key``
    names a note that is given only once."""

    id: str
    text: str
    author: str = ""
    about: NoteKind | None = None
    key: str = ""


@dataclass(frozen=True, slots=True)
class AssistantMessage:
    """One whole model message. ``extra`` is provider data (names of thinking fields, signatures) to send back."""

    id: str
    text: str = ""
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    finish: Finish = Finish.STOP
    extra: Mapping[str, Json] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What goes back to the model for one call. ``full`` keeps the whole text for people when ``content`` was cut."""

    call: str
    content: str
    kind: ResultKind = ResultKind.OK
    full: str = ""

    @property
    def is_error(self) -> bool:
        return self.kind not in (ResultKind.OK, ResultKind.ANSWERED)


Message = UserMessage | AssistantMessage | ToolResult
