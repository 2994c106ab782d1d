"""Where one top-level block ends and the next begins, in a text that is still growing.

Every rule here looks at the text alone and never at how it was cut into pieces, so a text that came in
pieces has the same blocks as one that came whole. A block that has ended never changes again.
"""

import re
from dataclasses import dataclass, field

from markdown_it.token import Token

from agentweb.render.dialect import Group, References, read_blocks

MAX_BLOCK = 32_000  # code points; a longer block (not code) is cut at a line, a longer line is plain text
MAX_RICH = 256_000  # code points; blocks that begin later are one plain text

_BLANK_LINES = re.compile(r"(?:[ \t]*\n)+")
_FENCE = re.compile(r"( {0,3})(`{3,}(?=[^`\n]*\n)|~{3,})([^\n]*)\n")
_CLOSED_AT_ONCE = frozenset({"heading_open", "hr"})
_CLOSED_AFTER_BLANK = _CLOSED_AT_ONCE | {"paragraph_open", "table_open", "blockquote_open"}


@dataclass(frozen=True, slots=True)
class Piece:
    """One block that has ended: its source, and its tokens, or None where it is plain text."""

    source: str
    tokens: list[Token] | None


@dataclass(frozen=True, slots=True)
class OpenCode:
    """A fence without its end: the code begins at `body` in the tail, up to `indent` spaces of a line are not code."""

    indent: int
    marks: str
    info: str
    body: int

    def holds_back(self, line: str) -> bool:
        """Whether an unfinished line may still become the end of the fence."""
        return re.fullmatch(rf" {{0,3}}{re.escape(self.marks[0])}*[ \t]*", line) is not None


@dataclass(slots=True)
class Borders:
    """Takes text at its end and gives ended blocks at its beginning; `tail` is what has not ended."""

    tail: str = ""
    references: References = field(default_factory=dict)
    saw_references: bool = False
    _start: int = 0  # code points before the tail
    _parsed: int = 0  # length of the complete lines that were looked at without result
    _scanned: int = 0  # how far the lines of an open fence were searched for its end

    @property
    def is_plain(self) -> bool:
        """Whether the tail is shown as it is, because of its place or because its first line is very long."""
        return self._start >= MAX_RICH or (len(self.tail) > MAX_BLOCK and self.tail.find("\n", 0, MAX_BLOCK) < 0)

    @property
    def has_new_lines(self) -> bool:
        """Whether lines were completed since the borders were last looked for."""
        return self.tail.rfind("\n") >= self._parsed

    def open_code(self) -> OpenCode | None:
        """The fence that the tail begins with, if it does."""
        match = None if self.is_plain else _FENCE.match(self.tail)
        return OpenCode(len(match[1]), match[2], match[3], match.end()) if match else None

    def take(self, *, final: bool) -> list[Piece]:
        """The blocks that have ended since the last call; with `final` the text ends here, and all have."""
        pieces: list[Piece] = []
        while (found := self._next(final)) is not None:
            pieces += found
        return pieces

    def _next(self, final: bool) -> list[Piece] | None:
        if blank := _BLANK_LINES.match(self.tail):
            self._advance(blank.end())
        if not self.tail or (final and not self.tail.strip(" \t")):
            self._advance(len(self.tail))
            return None
        if self.is_plain:
            return self._plain(final)
        if code := self.open_code():
            return self._code(code, final)
        return self._markdown(final)

    def _advance(self, length: int) -> str:
        taken, self.tail = self.tail[:length], self.tail[length:]
        self._start += length
        self._parsed = self._scanned = 0
        return taken

    def _plain(self, final: bool) -> list[Piece] | None:
        line_end = -1 if self._start >= MAX_RICH else self.tail.find("\n")
        if line_end < 0 and not final:
            return None
        return [Piece(self._advance(line_end + 1 if line_end >= 0 else len(self.tail)), None)]

    def _code(self, code: OpenCode, final: bool) -> list[Piece] | None:
        mark, count = re.escape(code.marks[0]), len(code.marks)
        line_end = r"(?:\n|\Z)" if final else r"\n"
        closing = re.compile(rf"^ {{0,3}}{mark}{{{count},}}[ \t]*{line_end}", re.MULTILINE)
        match = closing.search(self.tail, max(code.body, self._scanned))
        if match is None and not final:
            self._scanned = self._parsed = self.tail.rfind("\n") + 1
            return None
        source = self._advance(match.end() if match else len(self.tail))
        groups = read_blocks(source, {})
        return [Piece(source, groups[0].tokens)]

    def _markdown(self, final: bool) -> list[Piece] | None:
        """Look at complete lines only: half of a line may look like another block than the whole."""
        overflows = len(self.tail) > MAX_BLOCK
        final = final and not overflows
        window = self.tail if final else self.tail[: self.tail.rfind("\n", 0, MAX_BLOCK) + 1]
        if not final and not overflows and len(window) <= self._parsed:
            return None
        references = dict(self.references)
        groups = read_blocks(window, references)
        self.saw_references = self.saw_references or bool(references)
        lines = window.split("\n")
        ended, line = _ended(groups, lines)
        if final or (not line and overflows):
            ended, line = groups, len(lines)
        ended, line = self._before_plain(ended, line, lines)
        if not line:
            self._parsed = len(window)
            return None
        self._keep_references(references, line)
        self._advance(min(sum(map(len, lines[:line])) + line, len(window)))
        return [Piece("\n".join(lines[group.start : group.end]), group.tokens) for group in ended]

    def _before_plain(self, ended: list[Group], line: int, lines: list[str]) -> tuple[list[Group], int]:
        """Of the ended groups those that begin where blocks are still read as markdown."""
        place, at = self._start, 0
        for number, group in enumerate(ended):
            place += sum(map(len, lines[at : group.start])) + group.start - at
            at = group.start
            if place >= MAX_RICH:
                return ended[:number], group.start
        return ended, line

    def _keep_references(self, references: References, line: int) -> None:
        for label, reference in references.items():
            place = reference["map"]
            if label not in self.references and isinstance(place, list) and place[0] < line:
                self.references[label] = reference


def _ended(groups: list[Group], lines: list[str]) -> tuple[list[Group], int]:
    """The groups that no further line can change, and the number of lines up to the first that may change."""
    if not groups:
        return [], 0
    last = groups[-1]
    kind = last.tokens[0].type
    followed_by_blank = last.end < len(lines) - 1 and not lines[last.end].strip(" \t")
    may_head_table = last.end - last.start == 1 and "|" in lines[last.start]
    if (kind in _CLOSED_AT_ONCE and not may_head_table) or (kind in _CLOSED_AFTER_BLANK and followed_by_blank):
        return groups, last.end
    return groups[:-1], last.start if len(groups) > 1 else 0
