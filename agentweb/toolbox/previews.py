"""What a change of a file does, shown before it is done."""

import difflib
from typing import Any

from agentweb.engine.ports import Preview
from agentweb.toolbox.text_files import line_count, lines_in_words
from agentweb.toolbox.workspace import readable_size


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
    rows: list[Any] = []
    return Preview(effect, "diff", {"path": path, "rows": rows})


def _changed_lines(old: str, new: str) -> int:
    steps = difflib.SequenceMatcher(None, old.splitlines(), new.splitlines()).get_opcodes()
    return sum(max(i2 - i1, j2 - j1) for kind, i1, i2, j1, j2 in steps if kind != "equal")
