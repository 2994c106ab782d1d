"""The one place where a transcript becomes the messages of a request, valid for every provider.

Whatever the transcript holds, on the wire each tool call is followed at once by exactly one result, in order; argument
texts are JSON objects; ids are distinct; names are safe; empty assistant messages are left out.
"""

import re
from collections.abc import Hashable, Mapping, Sequence

from agentweb.engine.messages import AssistantMessage, Message, ToolResult, UserMessage
from agentweb.llm.config import SendThinking
from agentweb.llm.identifiers import ANY_SERVER, wire_ids
from agentweb.llm.names import WireNames
from agentweb.llm.protocols.native import NativeForm
from agentweb.llm.protocols.shape import Form, PastCall
from agentweb.llm.results import MISSING_RESULT, real_result, wire_result, without_files
from agentweb.llm.validation import validate_history
from agentweb.llm.written import WireMessage, Written
from agentweb.schema.text import clean

__all__ = ["build_messages", "keep_last", "validate_history"]


def build_messages(
    system: str,
    messages: Sequence[Message],
    names: WireNames,
    *,
    strict_roles: bool = False,
    send_thinking: SendThinking = SendThinking.WITH_CALLS,
    form: Form | None = None,
    ids: re.Pattern[str] = ANY_SERVER,
    written: Written | None = None,
) -> list[WireMessage]:
    """``strict_roles``: neighbours of one role are merged, for servers that want user and assistant to alternate.
    ``form``: how calls and results are written, by default in the fields of the API. ``ids``: what ids of calls must
    look like. ``written`` knows the messages of the requests before, and remembers those of this one."""
    form = form or NativeForm(names, send_thinking)
    wire = _Wire(messages, form, written or Written(), wire_ids(messages, ids), (names.pairs, send_thinking))
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
        self,
        messages: Sequence[Message],
        form: Form,
        written: Written,
        ids: Mapping[tuple[int, int], str],
        frame: Hashable,
    ) -> None:
        self._written = written
        self._ids = ids
        self._form = form
        self._results: dict[str, list[ToolResult]] = {}
        for message in messages:
            if isinstance(message, ToolResult):
                self._results.setdefault(message.call, []).append(message)
        speakers = {m.author for m in messages if isinstance(m, UserMessage) and m.author}
        self._several_speak = len(speakers) > 1
        written.begin((form.key, frame, self._several_speak))

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
        past = [
            PastCall(call, wire_id, wire_result(result) if result else MISSING_RESULT)
            for call, wire_id, result in zip(message.calls, ids, results, strict=True)
        ]
        return self._form.said(message, text, past)


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
