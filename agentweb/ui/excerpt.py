"""The head and tail of a long text, so that no page is ever as long as a tool's output."""

from dataclasses import dataclass

HEAD_LINES, TAIL_LINES = 60, 20
HEAD_CHARS, TAIL_CHARS = 12_000, 4_000


@dataclass(frozen=True, slots=True)
class Excerpt:
    """``head`` alone is the whole text when nothing was left out. Counts are of the whole text."""

    head: str
    tail: str
    lines: int
    characters: int
    hidden_lines: int
    hidden_characters: int

    @property
    def cut(self) -> bool:
        return self.hidden_characters > 0


def excerpt(text: str) -> Excerpt:
    """The text, or its beginning and end. Lines are told apart by ``\\n`` only."""
    return of_ends(text[: HEAD_CHARS + 1], text[-TAIL_CHARS:], len(text), text.count("\n"))


def of_ends(first: str, last: str, characters: int, newlines: int) -> Excerpt:
    """The same from the text's first HEAD_CHARS + 1 and last TAIL_CHARS characters and its size."""
    lines = newlines + 1
    if lines <= HEAD_LINES + TAIL_LINES and characters <= HEAD_CHARS + TAIL_CHARS:
        more = max(0, characters - len(first))
        return Excerpt(first + (last[-more:] if more else ""), "", lines, characters, 0, 0)
    head = "\n".join(first.split("\n")[:HEAD_LINES])[:HEAD_CHARS]
    tail = "\n".join(last.split("\n")[-TAIL_LINES:])
    hidden_lines = newlines - head.count("\n") - tail.count("\n")
    return Excerpt(head, tail, lines, characters, hidden_lines, characters - len(head) - len(tail))
