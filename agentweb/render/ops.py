"""What a browser has to do to its list of blocks; each op turns into a JSON array that starts with its kind."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Text:
    """Append `text` to the last text of open block `block`, which now holds `offset` code points of text."""

    block: int
    offset: int
    text: str

    def as_json(self) -> list[object]:
        return ["text", self.block, self.offset, self.text]


@dataclass(frozen=True, slots=True)
class Code:
    """Block `block` is a code block that is still being written; it is empty now. `lang` may be ""."""

    block: int
    lang: str

    def as_json(self) -> list[object]:
        return ["code", self.block, self.lang]


@dataclass(frozen=True, slots=True)
class Html:
    """Put `html` in the place of open block `block`; "" empties it."""

    block: int
    html: str

    def as_json(self) -> list[object]:
        return ["html", self.block, self.html]


@dataclass(frozen=True, slots=True)
class Done:
    """Block `block` has its last form and never changes, save by Replace."""

    block: int
    html: str

    def as_json(self) -> list[object]:
        return ["done", self.block, self.html]


@dataclass(frozen=True, slots=True)
class Replace:
    """These are all the blocks of the text; whatever was shown before goes."""

    blocks: tuple[str, ...]

    def as_json(self) -> list[object]:
        return ["replace", list(self.blocks)]


Op = Text | Code | Html | Done | Replace
