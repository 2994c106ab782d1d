"""Calls that leaked into the text of an answer, for models that have a field of their own for them.

Text becomes a call only as whole ``<tool_call>`` blocks at the very end that name offered tools; until that is settled
such text is held back, so what was streamed never has to be unsaid.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum, auto

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
_BLANK = re.compile(r"\s*")
_BLOCK = re.compile(re.escape(_OPEN) + "(.*?)" + re.escape(_CLOSE), re.DOTALL)


class _Where(Enum):
    """Where in the blocks the held text ends, which is all that one has to know of it."""

    TEXT = auto()  # nothing is held but perhaps the beginning of a marker
    BEGIN = auto()  # behind an opening tag
    BODY = auto()
    BEHIND = auto()  # behind a closing tag


class LeakedCalls:
    """Holds back the end of the answer while it may turn out to be a call or a stray marker. No character is looked at
    more than a few times, however long that takes."""

    extra: Mapping[str, Json] = {}
    enough = False

    def __init__(self, names: WireNames, new_id: Callable[[], str]) -> None:
        self._names = names
        self._new_id = new_id
        self._where = _Where.TEXT
        self._held: list[str] = []  # blocks as far as they have been read
        self._tail = ""  # the last few characters, where a tag may begin

    @property
    def _outside(self) -> bool:
        return self._where is _Where.TEXT

    def feed(self, text: str) -> list[ModelDelta]:
        return shown(DeltaKind.TEXT, self._feed(text))

    def _feed(self, text: str) -> str:
        text, self._tail = self._tail + text, ""
        settled: list[str] = []
        held_from = at = 0
        while at < len(text):
            if self._outside:
                found = text.find(_OPEN, at)
                if found < 0:
                    settled.append(self._without_marker(text[at:]))
                    break
                settled.append(text[at:found])
                held_from, at, self._where = found, found + len(_OPEN), _Where.BEGIN
                continue
            at, waits = self._in_blocks(text, at)
            if waits:
                self._held.append(text[held_from:at])
                self._tail = text[at:]
                break
            if self._outside:
                settled += [*self._held, text[held_from:at]]
                self._held = []
        else:
            if not self._outside:
                self._held.append(text[held_from:])
        return "".join(settled)

    def _in_blocks(self, text: str, at: int) -> tuple[int, bool]:
        """How far the blocks go on, and whether more must come to tell what is there. If TEXT is there then they were
        none, and no tag before there can begin any, since whatever begins with it ends alike."""
        if self._where is _Where.BODY:
            end = text.find(_CLOSE, at)
            if end < 0:
                return max(at, len(text) - len(_CLOSE) + 1), True
            self._where = _Where.BEHIND
            return end + len(_CLOSE), False
        at = _end_of_blank(text, at)
        if at == len(text):
            return at, False
        if self._where is _Where.BEGIN:
            self._where = _Where.BODY if text[at] == "{" else _Where.TEXT
        elif text.startswith(_OPEN, at):
            at, self._where = at + len(_OPEN), _Where.BEGIN
        elif _OPEN.startswith(text[at : at + len(_OPEN)]):
            return at, True
        else:
            self._where = _Where.TEXT
        return at, False

    def _without_marker(self, text: str) -> str:
        """What can be shown; the beginning of a marker at the end of the text waits."""
        if "<" not in text and "[" not in text:
            return text
        marker = _MARKER_AT_END.search(text, max(0, len(text) - _LONGEST - 16))
        size = len(text) - marker.start() if marker else partial_tag(text, _MARKERS)
        self._tail = text[len(text) - size :]
        return text[: len(text) - size]

    def drain(self) -> list[ModelDelta]:
        return shown(DeltaKind.TEXT, self._release())

    def _release(self) -> str:
        held = "".join([*self._held, self._tail])
        self._held, self._tail, self._where = [], "", _Where.TEXT
        return held

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
            calls.append(call)
            end = block.start()
        if calls:
            return held[:end], tuple(reversed(calls))
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


def _end_of_blank(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


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
