"""Rendering a text that arrives in small pieces.

`feed` only collects. `ops` says what changed, as little as it can: words are appended to the open block as text
while they cannot change how it reads; only markup makes the block be rendered again, at intervals that grow with
what a rendering costs. After `finish` the blocks are those of the whole text, however it was cut.
"""

import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from markdown_it.common.utils import MD_TRIM_CHARS

from agentweb.render.borders import Borders, OpenCode, Piece
from agentweb.render.dialect import Group, read_blocks
from agentweb.render.document import Writer, document
from agentweb.render.markup import block_html, language_of, plain_html, text_length
from agentweb.render.ops import Code, Done, Html, Op, Replace, Text
from agentweb.render.sanitize import clean_text

HTML_INTERVAL = 0.25  # seconds between two renderings of an open block, at least
LONGEST_INTERVAL = 3.0  # seconds, at most; only blocks of tens of thousands of characters come near
COST_FACTOR = 10  # an interval is at least this many times the last rendering

# Characters that may end or begin markup together with what stands before them.
_MARKUP = re.compile(r"[\\`*_\[\]~>;|#\n]")
_MARKUP_AFTER_BRACKET = re.compile(r"[\\`*_\[\]~>;|#\n)]")
# A line of these alone may still turn into a list, a heading, a rule, a fence or the line below a heading.
_UNDECIDED_LINE = re.compile(r"[-\s=+*_#>|:~`\d.)]*|\s*(?:[-+*>]\s+)*(?:```|~~~).*")
# A line with pipes is the head of a table only if the next line says so.
_UNDECIDED_TABLE = re.compile(r" {0,3}\|[^\n]*(?:\n[-:|\t ]*)?")
_UNDECIDED_START = re.compile(r"[-\s=+*_#>|:~`\d.)]*|\[.*", re.DOTALL)


@dataclass(slots=True)
class _Shown:
    """What a browser shows of the open block."""

    html: str | None = None  # the last Html op; None when the block is code or was not begun
    appended: bool = False  # whether words came after that op
    source_end: int = 0  # how much of the tail is shown, in code points
    length: int = 0  # code points of text in the block
    markup: re.Pattern[str] | None = None  # what may not be in text that is appended; None: nothing may be appended


class Incremental:
    """One growing text. `measure` is the clock (seconds) that tells what a rendering cost."""

    def __init__(self, measure: Callable[[], float] = time.thread_time) -> None:
        self._measure = measure
        self._pending: list[str] = []
        self._texts: list[str] = []
        self._done: list[str] = []
        self._borders = Borders()
        self._writer = Writer()
        self._shown = _Shown()
        self._dirty = False
        self._borders_due = self._html_due = float("-inf")

    @classmethod
    def resume(cls, text: str) -> "tuple[Incremental, tuple[Op, ...]]":
        """An instance that has taken `text`, and the ops that build in an empty page what it shows."""
        instance = cls()
        instance.feed(text)
        return instance, instance.ops(float("-inf"))

    def feed(self, delta: str) -> None:
        """Take the next piece of the text; nothing is rendered."""
        self._pending.append(delta)

    def ops(self, now: float) -> tuple[Op, ...]:
        """What to tell browsers at `now` (seconds of a steady clock); what is not due yet waits for a later call."""
        self._absorb(final=False)
        if not self._dirty:
            return ()
        if not self._borders.is_plain and self._only_words():
            return self._append_words()
        return self._render(now)

    def finish(self) -> tuple[Op, ...]:
        """The text is complete: every block in its last form."""
        self._absorb(final=True)
        ops = self._freeze(self._borders.take(final=True))
        if self._shown.html:
            ops.append(Html(len(self._done), ""))
        self._shown, self._dirty = _Shown(), False
        if self._borders.saw_references:
            # A definition also works for what stood before it, so only the whole text tells.
            blocks = [block.html for block in document("".join(self._texts))]
            if blocks != self._done:
                self._done = blocks
                ops.append(Replace(tuple(blocks)))
        return tuple(ops)

    def _absorb(self, final: bool) -> None:
        text = "".join(self._pending)
        self._pending.clear()
        if text.endswith("\r") and not final:
            # The second half of a line end may follow.
            text = text[:-1]
            self._pending.append("\r")
        if text:
            text = clean_text(text)
            self._texts.append(text)
            self._borders.tail += text
            self._dirty = True

    def _only_words(self) -> bool:
        shown = self._shown
        return shown.markup is not None and not shown.markup.search(self._borders.tail, shown.source_end)

    def _append_words(self) -> tuple[Op, ...]:
        """White space at the end waits for the next word, since HTML of the same text would not have it."""
        self._dirty = False
        return tuple(self._append(self._borders.tail[self._shown.source_end :].rstrip(MD_TRIM_CHARS)))

    def _append(self, text: str, source_length: int | None = None) -> list[Op]:
        if not text:
            return []
        op = Text(len(self._done), self._shown.length, text)
        self._shown.appended = True
        self._shown.length += len(text)
        self._shown.source_end += len(text) if source_length is None else source_length
        return [op]

    def _render(self, now: float) -> tuple[Op, ...]:
        """Find new borders if that is due, then show the open block if that is due."""
        begun = self._measure()
        ops: list[Op] = []
        is_cheap = self._borders.is_plain or self._borders.open_code() is not None
        if is_cheap or (self._borders.has_new_lines and now >= self._borders_due):
            ops += self._freeze(self._borders.take(final=False))
            self._borders_due = now + self._interval(begun)
        if self._borders.is_plain:
            ops += self._show_plain()
        elif code := self._borders.open_code():
            ops += self._show_code(code)
        elif self._shown.html is None or now >= self._html_due:
            ops += self._show_markdown()
            self._html_due = now + max(self._interval(begun), HTML_INTERVAL)
        return tuple(ops)

    def _interval(self, begun: float) -> float:
        return min(COST_FACTOR * (self._measure() - begun), LONGEST_INTERVAL)

    def _freeze(self, pieces: list[Piece]) -> list[Op]:
        ops: list[Op] = []
        for piece in pieces:
            html = self._writer.write(piece, self._borders.references)
            ops.append(Done(len(self._done), html))
            self._done.append(html)
            self._shown = _Shown()
        return ops

    def _show_plain(self) -> list[Op]:
        self._dirty = False
        ops: list[Op] = []
        empty = plain_html("")
        if self._shown.html != empty:
            ops.append(Html(len(self._done), empty))
            self._shown = _Shown(html=empty)
        return ops + self._append(self._borders.tail[self._shown.source_end :].rstrip("\n"))

    def _show_code(self, code: OpenCode) -> list[Op]:
        self._dirty = False
        ops: list[Op] = []
        if self._shown.source_end < code.body or self._shown.html is not None:
            ops.append(Code(len(self._done), language_of(code.info)))
            self._shown = _Shown(source_end=code.body)
        tail, begin = self._borders.tail, self._shown.source_end
        last_line = tail.rfind("\n") + 1
        end = last_line if code.holds_back(tail[last_line:]) else len(tail)
        source = tail[begin:end]
        text = source
        if code.indent and source:
            indented = re.compile(rf"(?<=\n) {{1,{code.indent}}}")
            text = indented.sub("", tail[begin - 1 : end])[1:]
        return ops + self._append(text, len(source))

    def _show_markdown(self) -> list[Op]:
        """The open block with the line that is still being written, without colours: those come at the end."""
        self._dirty = False
        source, held_back = _decided(self._borders.tail)
        references = dict(self._borders.references)
        groups = read_blocks(source, references)
        html = "".join(block_html(group.tokens, references, coloured=False) for group in groups)
        is_shown = html == (self._shown.html or "") and not self._shown.appended
        self._shown = _Shown(html=html, source_end=len(source.rstrip(MD_TRIM_CHARS)))
        if html and not held_back:
            self._shown.length = sum(text_length(group.tokens) for group in groups)
            self._shown.markup = _what_ends_words(groups, source)
        return [] if is_shown else [Html(len(self._done), html)]


def _decided(tail: str) -> tuple[str, bool]:
    """What of the tail can be shown without turning into something else soon, and whether that leaves out a line."""
    if _UNDECIDED_TABLE.fullmatch(tail):
        return "", True
    last_line = tail.rfind("\n") + 1
    if _UNDECIDED_LINE.fullmatch(tail, last_line):
        return tail[:last_line], True
    return tail, False


def _what_ends_words(groups: list[Group], source: str) -> re.Pattern[str] | None:
    """What to look for before words are appended after `source`; None where even a letter may change how it reads.

    Words may follow where the source ends in plain words that are the last text of the HTML.
    """
    tokens = groups[-1].tokens
    inline = next((token for token in reversed(tokens) if token.nesting >= 0), None)
    if inline is None or inline.type != "inline" or not inline.children or inline.children[-1].type != "text":
        return None
    words = inline.children[-1].content
    if not words or not source.rstrip(MD_TRIM_CHARS).endswith(words):
        return None
    begins_line = len(inline.children) == 1 or inline.children[-2].type in ("softbreak", "hardbreak")
    # Whether a delimiter at the end opens or closes depends on what follows it.
    if words[-1] in "*_~\\" or (begins_line and _UNDECIDED_START.fullmatch(words)):
        return None
    return _MARKUP_AFTER_BRACKET if "]" in words else _MARKUP
