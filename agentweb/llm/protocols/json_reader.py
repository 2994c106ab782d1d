"""Reads an answer that is one JSON object: its thought and its final answer stream, its tool becomes a call."""

import json
import re
from collections.abc import Callable, Mapping

from agentweb.engine.enums import DeltaKind, Invalid
from agentweb.engine.messages import Json, ToolCall
from agentweb.engine.ports import ModelDelta
from agentweb.llm.arguments import Arguments, parse_arguments
from agentweb.llm.protocols import rules
from agentweb.llm.protocols.answers import shown
from agentweb.llm.protocols.object_scan import ObjectScan
from agentweb.llm.protocols.offered import Offered
from agentweb.llm.protocols.refusals import MOST_KEPT, MOST_REPORTED, UNREADABLE, refused
from agentweb.llm.protocols.reply import ANSWER, CALLS, NAMES, STEP, THOUGHT, Reply, plain
from agentweb.schema.text import clean

_BEGIN = re.compile(r"[ \t]*(?:`{3,}[\w+-]*[ \t]*\n)?\s*\{")
_BEGUN = re.compile(r"[ \t]*(?:`{1,3}[\w+-]*[ \t]*(?:\n\s*)?)?\Z")
_FENCE = re.compile(r"\A\s*`{3,}")
_LONGEST_LEAD = 200  # characters of fence and blank text in front of the object
_LONGEST_WORD = 512  # characters of a step and of a tool's name that are looked at while they come
_ENOUGH = 200  # characters behind the object that show that it is not the last thing to come


class JsonReader:
    """``may_call``: calls are wanted; else plain text is taken for the answer too, and a call is left out.

    Words in front of the object are thinking, since they are for nobody; where there is no object at all the model is
    asked for one."""

    def __init__(self, offered: Offered, new_id: Callable[[], str], *, may_call: bool) -> None:
        self._offered = offered
        self._new_id = new_id
        self._may_call = may_call
        self._before = DeltaKind.THINKING if may_call else DeltaKind.TEXT
        self._buffer = ""
        self._at_start = True
        self._scan: ObjectScan | None = None
        self._gap: list[str] = []
        self._said: set[str] = set()  # what was shown: words in front, fields by name
        self._step = self._tool = ""
        self._kept = ""

    @property
    def extra(self) -> Mapping[str, Json]:
        """What stood behind the object, where only our code may write."""
        text = clean(_FENCE.sub("", self._scan.rest, count=1).strip()) if self._scan else ""
        return {"invented": {"text": text[:MOST_REPORTED], "length": len(text)}} if text else {}

    @property
    def enough(self) -> bool:
        return self._scan is not None and self._scan.behind >= _ENOUGH

    def feed(self, text: str) -> list[ModelDelta]:
        if len(self._kept) < MOST_KEPT:
            self._kept += text[:MOST_KEPT]
        if self._scan is not None:
            return self._fields(self._scan.feed(text))
        deltas: list[ModelDelta] = []
        for line in text.splitlines(keepends=True):  # so that no more than a few lines are ever looked at again
            deltas += self._feed_line(line)
        return deltas

    def _feed_line(self, line: str) -> list[ModelDelta]:
        if self._scan is not None:
            return self._fields(self._scan.feed(line))
        self._buffer += line
        return self._seek(final=False)

    def drain(self) -> list[ModelDelta]:
        return [] if self._scan is not None else self._seek(final=True)

    def close(self, *, proper_calls: bool, cut_off: bool) -> tuple[list[ModelDelta], tuple[ToolCall, ...]]:
        deltas = [] if self._scan is not None else self._seek(final=True)
        if self._scan is None:
            missing = self._kept.strip() and not cut_off
            call = self._refused("", rules.JSON_NONE) if missing else None
        else:
            whole = parse_arguments(self._scan.text, cut_off=cut_off)
            if whole.value is None:
                call = self._broken(whole, cut_off)
            else:
                more, call = self._meant(Reply.of(whole.value), cut_off)
                deltas += more
        wanted = call is not None and self._may_call and not proper_calls
        return deltas, (call,) if call is not None and wanted else ()

    # --- the stream -----------------------------------------------------------------------------------------------

    def _seek(self, *, final: bool) -> list[ModelDelta]:
        """Show what stands in front of the object, and find where that begins: at the start of a line."""
        deltas: list[ModelDelta] = []
        while self._buffer:
            if self._at_start:
                begin = _BEGIN.match(self._buffer)
                if begin:
                    rest, self._buffer = self._buffer[begin.end() - 1 :], ""
                    self._scan = ObjectScan()
                    return deltas + self._fields(self._scan.feed(rest))
                if not final and len(self._buffer) < _LONGEST_LEAD and _BEGUN.match(self._buffer):
                    break
            line, newline, self._buffer = self._buffer.partition("\n")
            self._at_start = bool(newline)
            deltas += self._in_front(line + newline)
        return deltas

    def _in_front(self, text: str) -> list[ModelDelta]:
        if not text.strip():
            self._gap.append(text)
            return []
        said = ("".join(self._gap) if "front" in self._said else "") + (
            text if "front" in self._said else text.lstrip()
        )
        whole = said.rstrip()
        self._gap = [said[len(whole) :]]
        self._said.add("front")
        return shown(self._before, whole)

    def _fields(self, pieces: list[tuple[str, str]]) -> list[ModelDelta]:
        deltas: list[ModelDelta] = []
        for name, piece in pieces:
            key = plain(name)
            if key in STEP:
                self._step = (self._step + piece)[:_LONGEST_WORD]
            elif key in NAMES:
                self._tool = (self._tool + piece)[:_LONGEST_WORD]
            elif key in THOUGHT:
                deltas += self._shown(DeltaKind.THINKING, "thought", piece)
            elif key in ANSWER and plain(self._step) not in CALLS:
                deltas += self._shown(DeltaKind.TEXT, "answer", piece)
        return deltas

    def _shown(self, kind: DeltaKind, field: str, piece: str) -> list[ModelDelta]:
        apart = field not in self._said and "front" in self._said and kind is self._before
        self._said.add(field)
        piece = clean(piece)
        return shown(kind, f"\n\n{piece}" if apart else piece)

    # --- the end --------------------------------------------------------------------------------------------------

    def _refused(self, name: str, detail: str) -> ToolCall:
        return refused(self._new_id, self._offered.names.true(name) if name else "", self._kept, detail)

    def _broken(self, found: Arguments, cut_off: bool) -> ToolCall | None:
        """An object that is no JSON. An answer or a thought that the output limit ended is one all the same."""
        if found.invalid is not Invalid.TRUNCATED:
            return self._refused(
                self._tool, f"{found.detail.replace('The arguments', 'The object', 1)} {rules.JSON_FORMS}"
            )
        if cut_off and not self._tool:
            return None
        name = clean(self._offered.names.true(self._tool)) or UNREADABLE
        kept = clean(self._kept)
        return ToolCall(self._new_id(), name, None, kept, "", Invalid.TRUNCATED, clean(found.detail))

    def _meant(self, reply: Reply, cut_off: bool) -> tuple[list[ModelDelta], ToolCall | None]:
        if reply.problem:
            return [], self._refused(reply.tool, reply.problem)
        if not reply.calls:
            if not reply.answer.strip():
                return [], None if "answer" in self._said else self._refused("", rules.JSON_NO_ANSWER)
            return [] if "answer" in self._said else self._shown(DeltaKind.TEXT, "answer", clean(reply.answer)), None
        found = _arguments(reply.arguments, cut_off)
        name = clean(self._offered.names.true(reply.tool))
        return [], ToolCall(self._new_id(), name, found.value, clean(found.raw), "", found.invalid, clean(found.detail))


def _arguments(value: Json, cut_off: bool) -> Arguments:
    """Arguments may be an object, its JSON as a text, or nothing."""
    if value is None:
        return parse_arguments("", cut_off=False)
    return parse_arguments(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), cut_off=cut_off)
