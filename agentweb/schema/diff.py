"""What differs between two JSON values, field by field, and between two texts, word by word."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import StrEnum
from itertools import islice
from typing import Any

from agentweb.schema.json_text import MAX_DEPTH, same
from agentweb.schema.problems import path_text

MAX_CHANGES = 200
"""Above so many changes each field of the top is one change."""

MAX_PAIRS = 300_000
"""Pairs of equal words (or lines) that one comparison may look at."""

LONG_TEXT = 40
"""From this length on, or with a line break, a changed text is compared inside."""

_WORDS = re.compile(r"\w+|\s+|[^\w\s]")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")

Steps = tuple[str | int, ...]


class ChangeKind(StrEnum):
    """What became of a field."""

    ADDED = "added"
    REMOVED = "removed"
    CHANGED = "changed"


class Part(StrEnum):
    """What became of a piece of text."""

    EQUAL = "equal"
    INSERT = "insert"
    DELETE = "delete"


@dataclass(frozen=True)
class DiffSegment:
    """A piece of text: in both versions, only in the new one, or only in the old one."""

    kind: Part
    text: str


@dataclass(frozen=True)
class Change:
    """One field that differs. `at` is the path in steps; `before` is None when added, `after` when removed.

    `segments` compare two long texts word by word, else they are empty.
    """

    path: str
    kind: ChangeKind
    before: Any
    after: Any
    at: Steps = ()
    segments: tuple[DiffSegment, ...] = ()


def diff(before: Any, after: Any) -> tuple[Change, ...]:
    """The changes that make `after` out of `before`, in the order of `before`, new fields last.

    Goes into objects and into lists of the same length; any other list is one change. Numbers that JSON Schema takes
    for the same (30 and 30.0) are no change, absent and null are. Takes any value and never raises.
    """
    found = tuple(islice(_changes((), before, after, MAX_DEPTH), MAX_CHANGES + 1))
    return found if len(found) <= MAX_CHANGES else tuple(_changes((), before, after, 1))


def _changes(at: Steps, before: Any, after: Any, levels: int) -> Iterator[Change]:
    if levels and isinstance(before, dict) and isinstance(after, dict):
        for name, value in before.items():
            if name not in after:
                yield Change(path_text((*at, name)), ChangeKind.REMOVED, value, None, (*at, name))
            else:
                yield from _changes((*at, name), value, after[name], levels - 1)
        for name in after:
            if name not in before:
                yield Change(path_text((*at, name)), ChangeKind.ADDED, None, after[name], (*at, name))
    elif levels and isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for index, (old, new) in enumerate(zip(before, after, strict=True)):
            yield from _changes((*at, index), old, new, levels - 1)
    elif not same(before, after):
        yield Change(path_text(at), ChangeKind.CHANGED, before, after, at, _inside(before, after))


def _inside(before: Any, after: Any) -> tuple[DiffSegment, ...]:
    if not isinstance(before, str) or not isinstance(after, str):
        return ()
    long = max(len(before), len(after)) >= LONG_TEXT or "\n" in before or "\n" in after
    return text_diff(before, after) if long else ()


def text_diff(before: str, after: str) -> tuple[DiffSegment, ...]:
    """Two texts as pieces: all but the inserted give `before`, all but the deleted give `after`.

    By words; by lines where that would be too much work, and as a whole between the common ends where lines are too.
    """
    for pattern in (_WORDS, _LINES):
        old, new = pattern.findall(before), pattern.findall(after)
        steps = opcodes(old, new)
        if steps is not None:
            return _merged((part, "".join(words)) for part, words in _pieces(steps, old, new))
    head = _common(before, after)
    tail = _common(before[head:][::-1], after[head:][::-1])
    old_end, new_end = len(before) - tail, len(after) - tail
    return _merged(
        [
            (Part.EQUAL, before[:head]),
            (Part.DELETE, before[head:old_end]),
            (Part.INSERT, after[head:new_end]),
            (Part.EQUAL, before[old_end:]),
        ]
    )


Opcode = tuple[str, int, int, int, int]


def opcodes(old: Sequence[str], new: Sequence[str]) -> list[Opcode] | None:
    """difflib's steps from one sequence to the other, common ends set aside; None where that is too much work."""
    head = _common(old, new)
    tail = _common(old[head:][::-1], new[head:][::-1])
    middle_old, middle_new = old[head : len(old) - tail], new[head : len(new) - tail]
    counts: dict[str, int] = {}
    for word in middle_new:
        counts[word] = counts.get(word, 0) + 1
    if (
        sum(counts.get(word, 0) for word in middle_old) > MAX_PAIRS
        or len(middle_old) + len(middle_new) > MAX_PAIRS // 10
    ):
        return None
    steps: list[Opcode] = [("equal", 0, head, 0, head)]
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, middle_old, middle_new).get_opcodes():
        steps.append((tag, i1 + head, i2 + head, j1 + head, j2 + head))
    steps.append(("equal", len(old) - tail, len(old), len(new) - tail, len(new)))
    return [step for step in steps if step[1] < step[2] or step[3] < step[4]]


def _common(left: Sequence[str], right: Sequence[str]) -> int:
    """How many entries both begin with."""
    count = 0
    for one, other in zip(left, right, strict=False):
        if one != other:
            break
        count += 1
    return count


def _pieces(steps: list[Opcode], old: Sequence[str], new: Sequence[str]) -> Iterator[tuple[Part, Sequence[str]]]:
    for tag, i1, i2, j1, j2 in steps:
        if tag == "equal":
            yield Part.EQUAL, old[i1:i2]
        else:
            yield Part.DELETE, old[i1:i2]
            yield Part.INSERT, new[j1:j2]


def _merged(pieces: Any) -> tuple[DiffSegment, ...]:
    """Without empty pieces, neighbours of one kind as one."""
    merged: list[DiffSegment] = []
    for kind, text in pieces:
        if text and merged and merged[-1].kind is kind:
            merged[-1] = DiffSegment(kind, merged[-1].text + text)
        elif text:
            merged.append(DiffSegment(kind, text))
    return tuple(merged)
