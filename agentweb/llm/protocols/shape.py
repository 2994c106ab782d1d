"""What a protocol has to do: write the past and the request in its own form, and read the answer."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from agentweb.engine.messages import AssistantMessage, Json, ToolCall
from agentweb.llm.protocols.answers import AnswerReader
from agentweb.llm.results import without_files
from agentweb.llm.written import WireMessage


@dataclass(frozen=True, slots=True)
class PastCall:
    """A call of the history with its id on the wire and the text of its result."""

    call: ToolCall
    id: str
    result: str


class Form(Protocol):
    """How messages of the model and results of tools are written. ``key``: equal forms write alike."""

    @property
    def key(self) -> str: ...

    def said(self, message: AssistantMessage, text: str, calls: Sequence[PastCall]) -> list[WireMessage]:
        """The message and the results of its calls; ``text`` is clean and not blank where there are no calls."""
        ...


class SpokenProtocol(Protocol):
    """A protocol for one request."""

    @property
    def form(self) -> Form: ...

    def system(self, system: str) -> str:
        """The system prompt with what the model must know about the form of its replies."""
        ...

    def fields(self) -> dict[str, Any]:
        """What the body of the request holds for this protocol."""
        ...

    def reader(self, new_id: Callable[[], str]) -> AnswerReader: ...


def argument_text(call: ToolCall) -> str:
    """The text of a JSON object, whatever the model wrote: as it came where that is one, else written anew, and with
    no file in it."""
    if call.arguments is None:
        return "{}"
    text = _as_it_came(call)
    if without_files(text) == text:
        return text
    return json.dumps(_without_files(call.arguments), ensure_ascii=False)


def _as_it_came(call: ToolCall) -> str:
    try:
        if call.raw and json.loads(call.raw) == call.arguments:
            return call.raw
    except (ValueError, RecursionError):
        pass
    arguments = call.arguments
    return json.dumps(dict(arguments) if isinstance(arguments, Mapping) else arguments, ensure_ascii=False)


def _without_files(value: Json) -> Json:
    if isinstance(value, str):
        return without_files(value)
    if isinstance(value, Mapping):
        return {without_files(name): _without_files(each) for name, each in value.items()}
    return [_without_files(each) for each in value] if isinstance(value, list | tuple) else value
