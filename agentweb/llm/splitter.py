"""Splits streamed answer text into answer, thinking and calls that leaked into the text.

Thinking tags count only at the very start. Text becomes a call only as whole ``<tool_call>`` blocks at the very end
that name offered tools; until that is settled such text is held back, so what was streamed never has to be unsaid.
"""

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

from agentweb.engine.enums import DeltaKind
from agentweb.engine.messages import ToolCall
from agentweb.engine.ports import ModelDelta
from agentweb.llm.arguments import parse_arguments
from agentweb.llm.names import WireNames

_THINK_TAGS = {"<think>": "</think>", "<thinking>": "</thinking>"}
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


class _State(Enum):
    START = auto()
    THINKING = auto()
    AFTER_THINKING = auto()
    ANSWER = auto()


def _partial_tag(text: str, tags: tuple[str, ...]) -> int:
    """How many characters at the end of ``text`` may be the beginning of one of ``tags``."""
    # A tag holds its first character only once, so its beginning can only be at the last one.
    at = max(text.rfind("<"), text.rfind("["))
    end = text[at:] if at >= 0 else ""
    return len(end) if end and any(tag.startswith(end) and tag != end for tag in tags) else 0


class TextSplitter:
    """Feed it text; it gives deltas, and at the end the leaked calls."""

    def __init__(self, names: WireNames, new_id: Callable[[], str], *, tools_offered: bool) -> None:
        self._state = _State.START
        self._held = ""
        self._end_tag = ""
        self._answer = _AnswerHold(names, new_id) if tools_offered else None

    def feed(self, text: str) -> list[ModelDelta]:
        if self._state is _State.ANSWER:
            return self._answered(text)
        self._held += text
        deltas: list[ModelDelta] = []
        if self._state is _State.START:
            self._start()
        if self._state is _State.THINKING:
            deltas += self._think()
        if self._state is _State.AFTER_THINKING:
            self._held = self._held.lstrip()
            if self._held:
                self._state = _State.ANSWER
        if self._state is _State.ANSWER:
            text, self._held = self._held, ""
            deltas += self._answered(text)
        return deltas

    def _answered(self, text: str) -> list[ModelDelta]:
        shown = self._answer.feed(text) if self._answer else text
        return [ModelDelta(DeltaKind.TEXT, shown)] if shown else []

    def _start(self) -> None:
        begin = self._held.lstrip()
        if not begin:
            return
        for tag, end_tag in _THINK_TAGS.items():
            if begin.startswith(tag):
                self._state, self._end_tag, self._held = _State.THINKING, end_tag, begin[len(tag) :].lstrip()
                return
        if not any(tag.startswith(begin) for tag in _THINK_TAGS):
            self._state = _State.ANSWER

    def _think(self) -> list[ModelDelta]:
        thought, end, rest = self._held.partition(self._end_tag)
        if end:
            self._state, self._held = _State.AFTER_THINKING, rest
            thought = thought.rstrip()
        else:
            whole = len(thought) - _partial_tag(thought, (self._end_tag,))
            whole = len(thought[:whole].rstrip())
            thought, self._held = thought[:whole], thought[whole:]
        return [ModelDelta(DeltaKind.THINKING, thought)] if thought else []

    def drain(self) -> list[ModelDelta]:
        """What was held back, as it came: the stream broke, so none of it can be a call."""
        kind = DeltaKind.THINKING if self._state is _State.THINKING else DeltaKind.TEXT
        rest = self._held + (self._answer.drain() if self._answer else "")
        self._held = ""
        return [ModelDelta(kind, rest)] if rest else []

    def close(self, *, proper_calls: bool) -> tuple[list[ModelDelta], tuple[ToolCall, ...]]:
        """The end of a whole answer. ``proper_calls``: the provider also sent calls in their own field."""
        if self._state is not _State.ANSWER:
            rest = self._held
            self._held = ""
            if self._state is _State.START and rest:
                return [ModelDelta(DeltaKind.TEXT, rest)], ()
            rest = rest.rstrip() if self._state is _State.THINKING else ""
            return ([ModelDelta(DeltaKind.THINKING, rest)] if rest else []), ()
        if self._answer is None:
            return [], ()
        shown, calls = self._answer.close(proper_calls=proper_calls)
        return ([ModelDelta(DeltaKind.TEXT, shown)] if shown else []), calls


class _AnswerHold:
    """Holds back the end of the answer while it may turn out to be a call or a stray marker."""

    def __init__(self, names: WireNames, new_id: Callable[[], str]) -> None:
        self._names = names
        self._new_id = new_id
        self._parts: list[str] = []  # held, in order
        self._tail = ""  # the last few held characters, where a closing tag may begin
        self._in_body = False  # nothing can be settled before the closing tag

    def feed(self, text: str) -> str:
        if self._in_body:
            window = self._tail + text
            self._parts.append(text)
            self._tail = window[-len(_CLOSE) :]
            if _CLOSE not in window:
                return ""
            text = self.drain()
        elif self._parts:
            text = self.drain() + text
        shown, held = self._cut(text)
        if held:
            self._parts = [held]
            self._tail = held[-len(_CLOSE) :]
            self._in_body = _in_body(held)
        return shown

    def drain(self) -> str:
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
        size = _partial_tag(text, _MARKERS)
        return (text[:-size], text[-size:]) if size else (text, "")

    def close(self, *, proper_calls: bool) -> tuple[str, tuple[ToolCall, ...]]:
        held = self.drain()
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
