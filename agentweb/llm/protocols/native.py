"""Tools by the fields of the API itself: the server turns calls into fields and back, and several may come at once."""

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

from agentweb.engine.enums import Purpose
from agentweb.engine.messages import AssistantMessage, ToolCall
from agentweb.engine.ports import ModelRequest, ToolSpec
from agentweb.llm.config import ModelConfig, SendThinking
from agentweb.llm.names import WireNames
from agentweb.llm.protocols.answers import AnswerReader, PlainAnswer
from agentweb.llm.protocols.leaked import LeakedCalls
from agentweb.llm.protocols.shape import PastCall, argument_text
from agentweb.llm.written import WireMessage
from agentweb.schema.defaults import fill
from agentweb.schema.text import clean


def build_tools(specs: Sequence[ToolSpec], names: WireNames) -> list[WireMessage]:
    """Tool definitions under safe names, their schemas filled up to what providers accept."""
    return [{"type": "function", "function": definition(spec, names)} for spec in specs]


def definition(spec: ToolSpec, names: WireNames) -> dict[str, Any]:
    return {
        "name": names.wire(spec.name),
        "description": clean(spec.description),
        "parameters": _parameters(spec),
    }


@lru_cache(maxsize=512)
def _parameters(spec: ToolSpec) -> dict[str, Any]:
    """The same for all runs; nobody changes it."""
    return fill(dict(spec.parameters or {}))


class NativeForm:
    """Calls and results in fields of their own."""

    key = "native"

    def __init__(self, names: WireNames, send_thinking: SendThinking) -> None:
        self._names = names
        self._send_thinking = send_thinking

    def said(self, message: AssistantMessage, text: str, calls: Sequence[PastCall]) -> list[WireMessage]:
        wire: WireMessage = {"role": "assistant", "content": text if text.strip() else None}
        if calls:
            wire["tool_calls"] = [self._call(past.call, past.id) for past in calls]
        self._add_thinking(message, wire)
        return [wire, *({"role": "tool", "tool_call_id": past.id, "content": past.result} for past in calls)]

    def _call(self, call: ToolCall, wire_id: str) -> WireMessage:
        extra = {key: value for key, value in call.extra.items() if key != "function"}
        function = call.extra.get("function")
        return {
            **extra,
            "id": wire_id,
            "type": "function",
            "function": {
                **(function if isinstance(function, Mapping) else {}),
                "name": self._names.wire(call.name),
                "arguments": argument_text(call),
            },
        }

    def _add_thinking(self, message: AssistantMessage, wire: WireMessage) -> None:
        """Some providers refuse a call whose thinking does not come back with it."""
        wanted = self._send_thinking is SendThinking.ALWAYS or (
            self._send_thinking is SendThinking.WITH_CALLS and bool(message.calls)
        )
        field = message.extra.get("thinking_field")
        if wanted and message.thinking and isinstance(field, str):
            wire[field] = clean(message.thinking)
            if "reasoning_details" in message.extra:
                wire["reasoning_details"] = message.extra["reasoning_details"]
        if "extra_content" in message.extra:
            wire["extra_content"] = message.extra["extra_content"]


class NativeProtocol:
    def __init__(self, config: ModelConfig, request: ModelRequest, names: WireNames) -> None:
        self._specs = request.tools
        self._wraps_up = request.purpose is Purpose.WRAP_UP
        self._names = names
        self.form = NativeForm(names, config.send_thinking)

    def system(self, system: str) -> str:
        return system

    def fields(self) -> dict[str, Any]:
        """At a wrap-up the tools stay, since providers want them beside old calls and caches hold them, but none may
        be called."""
        if not self._specs:
            return {}
        tools = {"tools": build_tools(self._specs, self._names)}
        return {**tools, "tool_choice": "none"} if self._wraps_up else tools

    def reader(self, new_id: Callable[[], str]) -> AnswerReader:
        return LeakedCalls(self._names, new_id) if self._specs and not self._wraps_up else PlainAnswer()
