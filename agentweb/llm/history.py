"""The one place where a transcript becomes the messages of a request, valid for every provider.

Whatever the transcript holds, on the wire each tool call is followed at once by exactly one result, in order; argument
texts are JSON objects; ids are distinct; names are safe; empty assistant messages are left out.
"""

import json
from collections.abc import Mapping, Sequence

from agentweb.engine.messages import AssistantMessage, Json, Message, ToolCall, ToolResult, UserMessage
from agentweb.engine.ports import ToolSpec
from agentweb.llm.config import SendThinking
from agentweb.llm.names import WireNames
from agentweb.llm.results import MISSING_RESULT, real_result, wire_result, without_files
from agentweb.llm.validation import validate_history
from agentweb.llm.written import WireMessage, Written
from agentweb.schema.defaults import fill
from agentweb.schema.text import clean

__all__ = ["build_messages", "build_tools", "keep_last", "validate_history"]

_THINKING_FIELD = "reasoning_content"


def build_tools(specs: Sequence[ToolSpec], names: WireNames) -> list[WireMessage]:
    """Tool definitions under safe names, their schemas filled up to what providers accept."""
    return [
        {
            "type": "function",
            "function": {
                "name": names.wire(spec.name),
                "description": clean(spec.description),
                "parameters": fill(dict(spec.parameters or {})),
            },
        }
        for spec in specs
    ]


def build_messages(
    system: str,
    messages: Sequence[Message],
    names: WireNames,
    *,
    strict_roles: bool = False,
    send_thinking: SendThinking = SendThinking.WITH_CALLS,
    written: Written | None = None,
) -> list[WireMessage]:
    """``strict_roles``: neighbours of one role are merged, for servers that want user and assistant to alternate.
    ``written`` knows the messages of the requests before, and remembers those of this one."""
    wire = _Wire(messages, names, send_thinking, written or Written())
    built: list[WireMessage] = [{"role": "system", "content": clean(system)}] if system.strip() else []
    for position, message in enumerate(messages):
        built += wire.message(position, message)
    return _merged(built) if strict_roles else built


def keep_last(messages: Sequence[Message], count: int) -> list[Message]:
    """The last ``count`` messages and no half of a call: its message and all its results stay or go together.

    The last user message always stays, even when it is older than that."""
    kept = list(messages[max(0, len(messages) - count) :]) if count > 0 else []
    asked = {call.id for message in kept if isinstance(message, AssistantMessage) for call in message.calls}
    kept = [m for m in kept if not isinstance(m, ToolResult) or m.call in asked]
    last = next((m for m in reversed(messages) if isinstance(m, UserMessage)), None)
    if last is not None and not any(m is last for m in kept):
        kept.insert(0, last)
    return kept


class _Wire:
    """Writes one transcript; knows its results by call, its wire ids and its speakers."""

    def __init__(
        self, messages: Sequence[Message], names: WireNames, send_thinking: SendThinking, written: Written
    ) -> None:
        self._written = written
        self._names = names
        self._send_thinking = send_thinking
        self._results: dict[str, list[ToolResult]] = {}
        for message in messages:
            if isinstance(message, ToolResult):
                self._results.setdefault(message.call, []).append(message)
        self._ids = _wire_ids(messages)
        speakers = {m.author for m in messages if isinstance(m, UserMessage) and m.author}
        self._several_speak = len(speakers) > 1
        written.begin((names.pairs, send_thinking, self._several_speak))

    def message(self, position: int, message: Message) -> list[WireMessage]:
        if isinstance(message, ToolResult):
            return []  # a result is written behind its call, wherever it stands in the transcript
        calls = message.calls if isinstance(message, AssistantMessage) else ()
        ids = tuple(self._ids[position, at] for at in range(len(calls)))
        results = [real_result(self._results.get(call.id, ())) for call in calls]
        known = self._written.find(message, ids, results)
        if known is not None:
            return known
        wire = self._user(message) if isinstance(message, UserMessage) else self._assistant(message, ids, results)
        self._written.keep(message, ids, results, wire)
        return wire

    def _user(self, message: UserMessage) -> list[WireMessage]:
        text = without_files(clean(message.text))
        if not text.strip():
            return []
        if self._several_speak and message.author:
            text = f"{clean(message.author)}: {text}"
        return [{"role": "user", "content": text}]

    def _assistant(
        self, message: AssistantMessage, ids: Sequence[str], results: Sequence[ToolResult | None]
    ) -> list[WireMessage]:
        text = without_files(clean(message.text))
        if not text.strip() and not message.calls:
            return []
        wire: WireMessage = {"role": "assistant", "content": text if text.strip() else None}
        if message.calls:
            wire["tool_calls"] = [self._call(call, wire_id) for call, wire_id in zip(message.calls, ids, strict=True)]
        self._add_thinking(message, wire)
        return [wire, *(_result(wire_id, result) for wire_id, result in zip(ids, results, strict=True))]

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


def _result(wire_id: str, result: ToolResult | None) -> WireMessage:
    content = wire_result(result) if result else MISSING_RESULT
    return {"role": "tool", "tool_call_id": wire_id, "content": content}


def _wire_ids(messages: Sequence[Message]) -> dict[tuple[int, int], str]:
    """By (message, call) position: the provider's own id where no call before has it, else ours."""
    ids: dict[tuple[int, int], str] = {}
    used: set[str] = set()
    for position, message in enumerate(messages):
        for at, call in enumerate(message.calls if isinstance(message, AssistantMessage) else ()):
            spare = f"call_{position}_{at}"
            while spare in used:
                spare += "_"
            choice = next(i for i in (call.provider_id, call.id, spare) if i and i not in used)
            used.add(choice)
            ids[position, at] = choice
    return ids


def argument_text(call: ToolCall) -> str:
    """The text of a JSON object, whatever the model wrote: as it came where that is one, else written anew."""
    if call.arguments is None:
        return "{}"
    try:
        if call.raw and json.loads(call.raw) == call.arguments:
            return call.raw
    except (ValueError, RecursionError):
        pass
    return json.dumps(_plain(call.arguments), ensure_ascii=False)


def _plain(value: Json) -> Json:
    return dict(value) if isinstance(value, Mapping) else value


def _merged(messages: list[WireMessage]) -> list[WireMessage]:
    """Neighbours of one role become one message, their texts parted by a blank line."""
    merged: list[WireMessage] = []
    for message in messages:
        last = merged[-1] if merged else None
        if last is None or not _may_merge(last, message):
            merged.append(dict(message))
            continue
        texts = [text for text in (last.get("content"), message.get("content")) if text]
        merged[-1] = {**last, **message, "content": "\n\n".join(texts) or None}
    return merged


def _may_merge(one: WireMessage, other: WireMessage) -> bool:
    return one["role"] == other["role"] and one["role"] in ("user", "assistant") and "tool_calls" not in one
