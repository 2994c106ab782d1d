"""What a change of a file does, shown before it is done."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict

from agentweb.engine.ports import Preview
from agentweb.schema.diff import opcodes
from agentweb.schema.unified import Row, RowKind, unified
from agentweb.toolbox.text_files import line_count, lines_in_words
from agentweb.toolbox.workspace import readable_size

MOST_SHOWN = 60_000  # characters in the rows of one preview


def created(path: str, content: str) -> Preview:
    return _diff(f"Creates {path} ({lines_in_words(line_count(content))})", path, "", content)


def changed(path: str, old: str, new: str) -> Preview:
    if old == new:
        return Preview(f"Leaves {path} as it is")
    if not new:
        return _diff(f"Empties {path} ({lines_in_words(line_count(old))})", path, old, new)
    return _diff(f"Changes {lines_in_words(_changed_lines(old, new))} of {path}", path, old, new)


def replaced(path: str, size: int, content: str) -> Preview:
    """Text in place of a file of ``size`` bytes that is not text."""
    effect = f"Replaces {path} ({readable_size(size)}, not text) by {lines_in_words(line_count(content))}"
    return _diff(effect, path, "", content)


def deleted(path: str, size: int, text: str) -> Preview:
    """``text`` is empty where the file is not text."""
    return _diff(f"Deletes {path} ({readable_size(size)})", path, text, "")


def _diff(effect: str, path: str, old: str, new: str) -> Preview:
    """``rows`` are those of `agentweb.schema.unified`, as dicts."""
    return Preview(effect, "diff", {"path": path, "rows": [asdict(row) for row in _bounded(unified(old, new))]})


def _bounded(rows: Sequence[Row]) -> Iterator[Row]:
    """As many rows as a card can hold; the last one then says how many lines are left out."""
    shown = 0
    for position, row in enumerate(rows):
        shown += len(row.text)
        if shown > MOST_SHOWN:
            yield Row(RowKind.MORE, count=sum(rest.count or 1 for rest in rows[position:]))
            return
        yield row


def _changed_lines(old: str, new: str) -> int:
    """Lines that differ, a changed one counted once; all lines of the longer text where comparing is too much work."""
    before, after = old.split("\n"), new.split("\n")
    steps = opcodes(before, after)
    if steps is None:
        return max(len(before), len(after))
    return sum(max(i2 - i1, j2 - j1) for tag, i1, i2, j1, j2 in steps if tag != "equal")
