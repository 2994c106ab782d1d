"""Two versions of a file as numbered rows, as a preview shows them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice

from agentweb.schema.diff import Opcode, opcodes

MAX_ROWS = 400
CONTEXT = 3
MAX_LINE = 2_000
"""Characters of a line that are shown."""

_LINES = re.compile(r"[^\n]*\n|[^\n]+")


class RowKind(StrEnum):
    """What a row is: a line in both, a new or an old line, unchanged lines left out, or the rest left out."""

    EQUAL = "equal"
    INSERT = "insert"
    DELETE = "delete"
    GAP = "gap"
    MORE = "more"


@dataclass(frozen=True)
class Row:
    """One line. Numbers count from 1 and are None where the line is not in that version.

    Gap and more rows have no text, and `count` says how many lines are left out. `ended` is False for a last line
    without a line break, `cut` is the number of characters left out of a very long line.
    """

    kind: RowKind
    old_number: int | None = None
    new_number: int | None = None
    text: str = ""
    count: int = 0
    ended: bool = True
    cut: int = 0


def unified(before: str, after: str, max_rows: int = MAX_ROWS, context: int = CONTEXT) -> tuple[Row, ...]:
    """The rows of a line diff with `context` lines around each change, at most `max_rows` and then one "more" row.

    Lines end at a line feed only, so a carriage return stays in the text. No rows when both are the same.
    """
    if before == after:
        return ()
    old, new = _LINES.findall(before), _LINES.findall(after)
    steps = opcodes(old, new) or [("replace", 0, len(old), 0, len(new))]
    rows = _rows(steps, old, new, context)
    shown = list(islice(rows, max_rows))
    left = sum(row.count or 1 for row in rows)
    return (*shown, Row(RowKind.MORE, count=left)) if left else tuple(shown)


def _rows(steps: list[Opcode], old: list[str], new: list[str], context: int) -> Iterator[Row]:
    for position, (tag, i1, i2, j1, j2) in enumerate(steps):
        if tag != "equal":
            yield from (_line(RowKind.DELETE, old[index], index, None) for index in range(i1, i2))
            yield from (_line(RowKind.INSERT, new[index], None, index) for index in range(j1, j2))
            continue
        # Lines right after the change before, and right before the change that follows.
        after_change = context if position > 0 else 0
        before_change = context if position < len(steps) - 1 else 0
        hidden = i2 - i1 - after_change - before_change
        for index in range(i2 - i1):
            if hidden < 1 or index < after_change or index >= i2 - i1 - before_change:
                yield _line(RowKind.EQUAL, old[i1 + index], i1 + index, j1 + index)
            elif index == after_change:
                yield Row(RowKind.GAP, count=hidden)


def _line(kind: RowKind, line: str, old_index: int | None, new_index: int | None) -> Row:
    text = line.removesuffix("\n")
    return Row(
        kind,
        None if old_index is None else old_index + 1,
        None if new_index is None else new_index + 1,
        text[:MAX_LINE],
        ended=line.endswith("\n"),
        cut=max(0, len(text) - MAX_LINE),
    )
