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
    lines = text.count("\n") + 1
    if lines <= HEAD_LINES + TAIL_LINES and len(text) <= HEAD_CHARS + TAIL_CHARS:
        return Excerpt(text, "", lines, len(text), 0, 0)
    head = "\n".join(text[: HEAD_CHARS + 1].split("\n")[:HEAD_LINES])[:HEAD_CHARS]
    tail = "\n".join(text[-TAIL_CHARS:].split("\n")[-TAIL_LINES:])
    hidden = text[len(head) : len(text) - len(tail)]
    return Excerpt(head, tail, lines, len(text), hidden.count("\n"), len(hidden))
