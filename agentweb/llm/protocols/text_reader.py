"""Reads an answer in lines of text: thought and final answer stream, an action becomes a call, the rest is cut.

Only at the start of a line can a mark stand, so a line is shown as soon as it is clear that it begins with none.
"""

import re
from collections.abc import Callable, Mapping
from enum import Enum, auto

from agentweb.engine.enums import DeltaKind, Invalid
from agentweb.engine.messages import Json, ToolCall
from agentweb.engine.ports import ModelDelta
from agentweb.llm.protocols.actions import Action, arguments_of, is_call
from agentweb.llm.protocols.answers import shown
from agentweb.llm.protocols.draft import Draft
from agentweb.llm.protocols.marks import Found, Mark, Unsettled, find_mark
from agentweb.llm.protocols.offered import Offered
from agentweb.llm.protocols.refusals import MOST_KEPT, MOST_REPORTED, UNREADABLE, refused
from agentweb.llm.protocols.rules import TEXT_BOTH, TEXT_NEITHER, TEXT_NO_TOOL
from agentweb.schema.text import clean

_FENCE = re.compile(r"[ \t]*```[\w+-]*[ \t]*(?:\n|\Z)")
_FENCE_BEGUN = re.compile(r"[ \t]*`{1,3}[\w+-]*[ \t]*\Z")
_BLOCK = re.compile(r'\s*\{\s*"(?:action|tool|tool_name|action_name|name|function)"\s*:')
_BLOCK_BEGUN = re.compile(r'\s*\{\s*(?:"[a-z_]{0,12}"?\s*)?\Z')
_LONGEST_NAME = 200  # characters of a line that names a tool
_PIECE = 512  # characters that are looked at together, so that a long line takes no longer than many short ones
_ENOUGH = 200  # characters of an invented result, of one line or of several


class _Place(Enum):
    """What the text is part of."""

    LEAD = auto()  # nothing has been marked yet: it is an answer, or what goes before an action
    THOUGHT = auto()
    ACTION = auto()
    ANSWER = auto()
    CUT = auto()  # written where only our code may write, or behind the end of the turn


_SHOWN = {_Place.LEAD: DeltaKind.TEXT, _Place.THOUGHT: DeltaKind.THINKING, _Place.ANSWER: DeltaKind.TEXT}


class TextReader:
    """``may_call``: calls are wanted; else what asks for one is left out."""

    def __init__(self, offered: Offered, new_id: Callable[[], str], *, may_call: bool) -> None:
        self._offered = offered
        self._new_id = new_id
        self._may_call = may_call
        self._place = _Place.LEAD
        self._before = _Place.LEAD  # where an unannounced block of JSON stands
        self._buffer = ""
        self._at_start = True  # of a line
        self._end_tag = ""
        self._in_code = False
        self._fences = 0  # round the whole reply
        self._gap: list[str] = []  # blank text that is shown only if something follows it
        self._shown = dict.fromkeys(DeltaKind, 0)  # characters
        self._began = False  # something of this place was shown
        self._answered = self._both = self._observed = False
        self._draft: Draft | None = None
        self._cut: list[str] = []
        self._invented = 0  # characters of results that are not blank
        self._line_ended = False  # behind some of them
        self._kept = ""

    @property
    def extra(self) -> Mapping[str, Json]:
        """What the model wrote in place of results, if it did."""
        text = clean("".join(self._cut).strip())
        return {"invented": {"text": text[:MOST_REPORTED], "length": len(text)}} if text else {}

    @property
    def enough(self) -> bool:
        """A result was invented: its first line is kept for people, the rest would be cut as well."""
        return self._observed and (self._invented >= _ENOUGH or self._line_ended)

    def feed(self, text: str) -> list[ModelDelta]:
        if len(self._kept) < MOST_KEPT:
            self._kept += text[:MOST_KEPT]
        deltas: list[ModelDelta] = []
        for line in text.splitlines(keepends=True):  # so that no more than a few lines are ever looked at again
            for at in range(0, len(line), _PIECE):
                self._buffer += line[at : at + _PIECE]
                deltas += self._advance(final=False)
        return deltas

    def drain(self) -> list[ModelDelta]:
        mark = find_mark(self._buffer, final=False) if self._at_start else None
        return [] if mark is not None else self._advance(final=True)

    def close(self, *, proper_calls: bool, cut_off: bool) -> tuple[list[ModelDelta], tuple[ToolCall, ...]]:
        deltas = self._advance(final=True)
        action = self._draft.read() if self._draft else None
        if action and action.final and not self._both:
            self._place, self._began = _Place.ANSWER, False
            return deltas + self._show(DeltaKind.TEXT, action.raw), ()
        if not self._may_call or proper_calls:
            return deltas, ()
        call = self._call(action, cut_off)
        return deltas, (call,) if call else ()

    def _call(self, action: Action | None, cut_off: bool) -> ToolCall | None:
        name = self._offered.names.true(action.name) if action else ""
        if self._both:
            return refused(self._new_id, name, action.raw if action else self._kept, TEXT_BOTH)
        if self._draft is None:
            silent = not self._shown[DeltaKind.TEXT] and self._kept.strip() and not cut_off
            return refused(self._new_id, "", self._kept, TEXT_NEITHER) if silent else None
        if action is None or not name:
            if cut_off:
                return ToolCall(
                    self._new_id(), UNREADABLE, None, clean(self._draft.text), "", Invalid.TRUNCATED, TEXT_NO_TOOL
                )
            return refused(self._new_id, "", self._kept, TEXT_NO_TOOL)
        found = arguments_of(action, self._offered, cut_off=cut_off)
        return ToolCall(
            self._new_id(), clean(name), found.value, clean(found.raw), "", found.invalid, clean(found.detail)
        )

    # --- line by line ---------------------------------------------------------------------------------------------

    def _advance(self, *, final: bool) -> list[ModelDelta]:
        deltas: list[ModelDelta] = []
        while self._buffer:
            if not self._at_start:
                deltas += self._in_line(final)
                if not self._at_start and self._buffer:
                    break  # the end of a tag may be coming
                continue
            step = self._start_of_line(final)
            if isinstance(step, Unsettled):
                break
            deltas += step
        return deltas

    def _in_line(self, final: bool) -> list[ModelDelta]:
        """Everything up to the end of the line or of the tag that this place is in."""
        line, newline, rest = self._buffer.partition("\n")
        at = line.find(self._end_tag) if self._end_tag else -1
        if at >= 0:
            self._buffer = self._buffer[at + len(self._end_tag) :].lstrip(" \t")
            deltas = self._content(line[:at])
            self._end_tag, self._at_start = "", True
            if self._place is _Place.THOUGHT:
                self._enter(_Place.LEAD)
            return deltas
        held = 0
        if self._end_tag and not newline and not final:
            held = next((n for n in range(len(self._end_tag) - 1, 0, -1) if line.endswith(self._end_tag[:n])), 0)
        self._buffer = line[len(line) - held :] if held else rest
        self._at_start = bool(newline)
        return self._content(line[: len(line) - held] + newline)

    def _start_of_line(self, final: bool) -> list[ModelDelta] | Unsettled:
        if self._buffer.startswith("\n"):
            self._buffer = self._buffer[1:]
            return self._content("\n")
        if self._in_code or self._observed or (self._draft is not None and self._draft.is_open):
            return self._unmarked_line(final)
        found = find_mark(self._buffer, final=final)
        if isinstance(found, Unsettled):
            return found
        step = self._marked(found, final) if found else None
        if step is None and self._place in _SHOWN:
            step = self._fenced(final)
            if step is None and self._place is not _Place.ANSWER and self._offered:
                step = self._block(final)
        if step is None:
            self._at_start = False
            return []
        return step

    def _unmarked_line(self, final: bool) -> list[ModelDelta] | Unsettled:
        """A line in which no mark counts; in shown code it may be the end of that."""
        if self._in_code:
            if _FENCE.match(self._buffer) and ("\n" in self._buffer or final):
                self._in_code = False
            elif not final and self._may_become(_FENCE_BEGUN):
                return Unsettled.WAIT
        self._at_start = False
        return []

    def _may_become(self, begun: re.Pattern[str]) -> bool:
        return len(self._buffer) < _LONGEST_NAME and begun.match(self._buffer) is not None

    # --- marks ----------------------------------------------------------------------------------------------------

    def _marked(self, found: Found, final: bool) -> list[ModelDelta] | Unsettled | None:
        """Take the mark, or None where it is only text."""
        if found.tag and self._place is _Place.ANSWER and found.mark is not Mark.OBSERVATION:
            return None
        match found.mark:
            case Mark.OBSERVATION:
                return self._cut_here(found, observed=True)
            case Mark.RESULTS:
                return self._cut_here(found, observed=True) if self._place is _Place.ACTION else None
            case Mark.INPUT:
                return self._input(found)
            case Mark.ANSWER:
                return self._answer(found)
            case Mark.THOUGHT if self._place is _Place.ACTION:
                return self._cut_here(found)
            case Mark.THOUGHT:
                return self._section(_Place.THOUGHT, found) if self._place is not _Place.CUT else None
        return self._action(found, final)

    def _section(self, place: _Place, found: Found) -> list[ModelDelta]:
        self._end_tag = f"</{found.tag}>" if found.tag else ""
        self._enter(place)
        self._buffer, self._at_start = self._buffer[found.end :], False
        return []

    def _enter(self, place: _Place) -> None:
        if place is not self._place:
            self._place, self._began, self._gap = place, False, []

    def _answer(self, found: Found) -> list[ModelDelta] | None:
        if self._place in (_Place.ACTION, _Place.CUT):
            self._both = True
            return self._cut_here(found)
        self._answered = True
        return self._section(_Place.ANSWER, found)

    def _input(self, found: Found) -> list[ModelDelta] | None:
        if self._place is not _Place.ACTION or self._draft is None or not self._draft.begin_input():
            return None
        self._buffer, self._at_start = self._buffer[found.end :], False
        return []

    def _action(self, found: Found, final: bool) -> list[ModelDelta] | Unsettled | None:
        if not self._offered or self._place is _Place.CUT:
            return None
        if not found.tag and (found.mark is Mark.TOOL or self._place is _Place.ANSWER):
            line, newline, _ = self._buffer[found.end :].partition("\n")
            if not newline and not final and len(line) < _LONGEST_NAME:
                return Unsettled.WAIT
            if self._offered.find(line.strip("`*\"' \t\r.")) is None:
                return None
        if self._place is _Place.ACTION:
            return self._cut_here(found)
        self._both = self._answered
        self._draft = Draft(tagged=bool(found.tag))
        self._enter(_Place.ACTION)
        self._end_tag = ""
        self._buffer, self._at_start = self._buffer[0 if found.tag else found.end :], False
        return []

    def _cut_here(self, found: Found, *, observed: bool = False) -> list[ModelDelta]:
        self._observed = self._observed or observed
        if not observed:
            self._cut.append(self._buffer[: found.end])
        self._enter(_Place.CUT)
        self._end_tag = ""
        self._buffer, self._at_start = self._buffer[found.end :], False
        return []

    def _fenced(self, final: bool) -> list[ModelDelta] | Unsettled | None:
        """A fence round the whole reply, or round an action in it, is no part of what is said; one round code is."""
        fence = _FENCE.match(self._buffer)
        if fence is None or (not final and "\n" not in fence[0]):
            return Unsettled.WAIT if not final and self._may_become(_FENCE_BEGUN) else None
        rest = self._buffer[fence.end() :].lstrip()
        if self._fences and fence[0].strip() == "```":
            self._fences, self._buffer = self._fences - 1, self._buffer[fence.end() :]
            return []
        final = final or len(self._buffer) >= _LONGEST_NAME  # what follows is looked at, but not for ever
        inner = find_mark(rest, final=final) if rest else None if final else Unsettled.WAIT
        if inner is None and self._offered and self._place is not _Place.ANSWER:
            if _BLOCK.match(rest):
                self._buffer, self._fences = rest, self._fences + 1
                return []
            inner = Unsettled.WAIT if not final and _BLOCK_BEGUN.match(rest) else None
        if inner is Unsettled.WAIT:
            return Unsettled.WAIT
        if inner is not None and self._place is not _Place.ANSWER:
            self._buffer, self._fences = rest, self._fences + 1
            return []
        self._in_code, self._buffer = True, self._buffer[fence.end() :]
        return self._content(fence[0])

    def _block(self, final: bool) -> list[ModelDelta] | Unsettled | None:
        """A JSON object that names a tool, with nothing that announces it."""
        if not _BLOCK.match(self._buffer):
            return Unsettled.WAIT if not final and self._may_become(_BLOCK_BEGUN) else None
        self._before, self._draft = self._place, Draft(block=True)
        self._place, self._at_start = _Place.ACTION, False
        return []

    # --- content --------------------------------------------------------------------------------------------------

    def _content(self, text: str) -> list[ModelDelta]:
        if self._place in _SHOWN:
            return self._show(_SHOWN[self._place], text)
        if self._place is _Place.CUT:
            self._cut.append(text)
            self._invented += len(text.strip()) if self._observed else 0
            self._line_ended = self._line_ended or (self._invented > 0 and text.endswith("\n"))
            return []
        assert self._draft is not None
        self._draft.add(text)
        if self._draft.is_whole_block() and not is_call(self._draft.text, self._offered):
            data, self._draft, self._place = self._draft.text, None, self._before
            return self._show(_SHOWN[self._place], data)
        return []

    def _show(self, kind: DeltaKind, text: str) -> list[ModelDelta]:
        """Without blank text at the ends of a place; two places of one kind are parted by a blank line."""
        if not text.strip():
            if self._began:
                self._gap.append(text)
            return []
        body = text if self._began else text.lstrip()
        if not self._began:
            self._gap = ["\n\n"] if self._shown[kind] else []
        said = "".join(self._gap) + body
        whole = said.rstrip()
        self._gap = [said[len(whole) :]]
        self._began = True
        self._shown[kind] += len(whole)
        return shown(kind, whole)
