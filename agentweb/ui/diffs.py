"""Changes as lines and words for people: what a preview recorded, and what a person changed in the arguments."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import ngettext

from agentweb.engine.previewing import FAILED
from agentweb.schema.diff import DiffSegment, diff
from agentweb.schema.json_text import pretty
from agentweb.schema.unified import Row, RowKind, unified
from agentweb.ui.labels import field_label

KINDS = {RowKind.INSERT: "added", RowKind.DELETE: "removed", RowKind.EQUAL: "same"}


@dataclass(frozen=True, slots=True)
class DiffLine:
    """``kind`` is added, removed, same or hunk; a hunk line stands for lines that are not shown."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Change:
    """One argument that differs: as lines where it has several, as words where it is long, else old beside new."""

    label: str
    before: str | None
    after: str | None
    lines: list[DiffLine]
    words: list[DiffSegment]


def preview_lines(preview: Any) -> tuple[list[DiffLine], str]:
    """The diff of a recorded preview, or its plain text; both empty for what cannot be shown."""
    if not isinstance(preview, Mapping):
        return [], ""
    data = preview.get("data", preview)
    if not isinstance(data, Mapping):
        return [], ""
    rows = data.get("rows")
    if isinstance(rows, list):
        return [_recorded(row) for row in rows if isinstance(row, Mapping)], ""
    text = data.get("text", "")
    return [], text if isinstance(text, str) else ""


def is_failed(preview: Any) -> bool:
    """Whether this stands in for a preview that could not be made."""
    return isinstance(preview, Mapping) and preview.get("kind") == FAILED


def argument_changes(before: Any, after: Any) -> list[Change]:
    """What a person changed in the arguments, one entry for each field."""
    return [_change(each.path, each.before, each.after, list(each.segments)) for each in diff(before, after)]


def _change(path: str, before: Any, after: Any, words: list[DiffSegment]) -> Change:
    lines: list[DiffLine] = []
    if isinstance(before, str) and isinstance(after, str) and ("\n" in before or "\n" in after):
        lines, words = diff_lines(unified(before, after)), []
    return Change(_label(path), _text(before), _text(after), lines, words)


def diff_lines(rows: Iterable[Row]) -> list[DiffLine]:
    return [_line(str(row.kind), row.text, row.count, row.cut) for row in rows]


def _recorded(row: Mapping[str, Any]) -> DiffLine:
    count, cut = row.get("count", 0), row.get("cut", 0)
    return _line(
        str(row.get("kind", "")),
        str(row.get("text", "")),
        count if isinstance(count, int) else 0,
        cut if isinstance(cut, int) else 0,
    )


def _line(kind: str, text: str, count: int, cut: int) -> DiffLine:
    if kind in (RowKind.GAP, RowKind.MORE):
        words = ngettext("… %(count)d line is not shown", "… %(count)d lines are not shown", count) % {"count": count}
        return DiffLine("hunk", words)
    if cut:
        text += " " + ngettext("… %(count)d more character", "… %(count)d more characters", cut) % {"count": cut}
    return DiffLine(KINDS.get(kind, "same"), text)


def _text(value: Any) -> str | None:
    if value is None:
        return None
    return value if isinstance(value, str) else pretty(value) or str(value)


def _label(path: str) -> str:
    """A field of the top by its label; a place inside a field as its path."""
    return path if set(path) & set('.["') else field_label(path)
