"""Calls that leaked into the text of an answer, for models that have a field of their own for them.

Text becomes a call only as whole ``<tool_call>`` blocks at the very end that name offered tools; until that is settled
such text is held back, so what was streamed never has to be unsaid.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from agentweb.engine.enums import DeltaKind
from agentweb.engine.messages import Json, ToolCall
from agentweb.engine.ports import ModelDelta
from agentweb.llm.arguments import parse_arguments
from agentweb.llm.names import WireNames
from agentweb.llm.protocols.answers import shown
from agentweb.llm.splitter import partial_tag

_OPEN, _CLOSE = "<tool_call>", "</tool_call>"
# What is left of a call that the server turned into a proper one: an opening marker, whole or in part.
_MARKERS = (
    _OPEN,
    "<tool_calls>",
    "<function",
    "<function_call>",
    "<function_calls>",
    "<|tool_call|>",
    "<|tool_call>",
    "<|python_tag|>",
    "<|tool_calls_section_begin|>",
    "<｜tool▁calls▁begin｜>",
    "[TOOL_CALLS]",
)
_LONGEST = max(map(len, _MARKERS))
_SHORTEST_REMNANT = 4
_MARKER_AT_END = re.compile("(?:" + "|".join(map(re.escape, _MARKERS)) + r")\s*\Z")
_BLOCK = re.compile(re.escape(_OPEN) + "(.*?)" + re.escape(_CLOSE), re.DOTALL)


class LeakedCalls:
    """Holds back the end of the answer while it may turn out to be a call or a stray marker."""

    extra: Mapping[str, Json] = {}

    def __init__(self, names: WireNames, new_id: Callable[[], str]) -> None:
        self._names = names
        self._new_id = new_id
        self._parts: list[str] = []  # held, in order
        self._tail = ""  # the last few held characters, where a closing tag may begin
        self._in_body = False  # nothing can be settled before the closing tag

    def feed(self, text: str) -> list[ModelDelta]:
        return shown(DeltaKind.TEXT, self._feed(text))

    def _feed(self, text: str) -> str:
        if self._in_body:
            window = self._tail + text
            self._parts.append(text)
            self._tail = window[-len(_CLOSE) :]
            if _CLOSE not in window:
                return ""
            text = self._release()
        elif self._parts:
            text = self._release() + text
        settled, held = self._cut(text)
        if held:
            self._parts = [held]
            self._tail = held[-len(_CLOSE) :]
            self._in_body = _in_body(held)
        return settled

    def drain(self) -> list[ModelDelta]:
        return shown(DeltaKind.TEXT, self._release())

    def _release(self) -> str:
        held = "".join(self._parts)
        self._parts, self._tail, self._in_body = [], "", False
        return held

    @staticmethod
    def _cut(text: str) -> tuple[str, str]:
        """(what can be shown, what must wait)."""
        if "<" not in text and "[" not in text:
            return text, ""
        at = text.find(_OPEN)
        while at >= 0:
            if _may_be_blocks(text, at):
                return text[:at], text[at:]
            at = text.find(_OPEN, at + 1)
        marker = _MARKER_AT_END.search(text, max(0, len(text) - _LONGEST - 16))
        if marker:
            return text[: marker.start()], text[marker.start() :]
        size = partial_tag(text, _MARKERS)
        return (text[:-size], text[-size:]) if size else (text, "")

    def close(self, *, proper_calls: bool, cut_off: bool) -> tuple[list[ModelDelta], tuple[ToolCall, ...]]:
        text, calls = self._settle(proper_calls=proper_calls)
        return shown(DeltaKind.TEXT, text), calls

    def _settle(self, *, proper_calls: bool) -> tuple[str, tuple[ToolCall, ...]]:
        held = self._release()
        found = list(_BLOCK.finditer(held)) if held.startswith(_OPEN) else []
        calls: list[ToolCall] = []
        end = len(held)
        for block in reversed(found):
            call = self._call(block.group(1)) if not held[block.end() : end].strip() else None
            if call is None:
                break
            calls.insert(0, call)
            end = block.start()
        if calls:
            return held[:end], tuple(calls)
        remnant = held.strip()
        if proper_calls and len(remnant) >= _SHORTEST_REMNANT and any(m.startswith(remnant) for m in _MARKERS):
            return "", ()
        return held, ()

    def _call(self, body: str) -> ToolCall | None:
        leaked = _leaked(body)
        name = self._names.find(leaked.name) if leaked else None
        if leaked is None or name is None:
            return None
        parsed = parse_arguments(leaked.arguments, cut_off=False)
        if parsed.value is None:
            return None
        return ToolCall(id=self._new_id(), name=name, arguments=parsed.value, raw=parsed.raw, recovered=True)


def _in_body(held: str) -> bool:
    last = held.rfind(_OPEN)
    return last >= 0 and _CLOSE not in held[last:] and held[last + len(_OPEN) :].lstrip().startswith("{")


def _may_be_blocks(text: str, at: int) -> bool:
    """Whether everything from ``at`` on can still become whole blocks with nothing behind them."""
    while text.startswith(_OPEN, at):
        body = text[at + len(_OPEN) :].lstrip()
        if body and not body.startswith("{"):
            return False
        end = text.find(_CLOSE, at)
        if end < 0:
            return True
        at = end + len(_CLOSE)
        at += len(text[at:]) - len(text[at:].lstrip())
    return _OPEN.startswith(text[at:])


@dataclass(frozen=True, slots=True)
class _Leaked:
    name: str
    arguments: str


def _leaked(body: str) -> _Leaked | None:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or not isinstance(value.get("name"), str):
        return None
    arguments = value.get("arguments", value.get("parameters", {}))
    return _Leaked(value["name"], arguments if isinstance(arguments, str) else json.dumps(arguments))
