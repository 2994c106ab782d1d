"""A browser in a few lines: what its blocks hold after the ops that it was sent."""

from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser

from agentweb.render import Code, Done, Html, Op, Replace, Text


class _TextContent(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []

    def handle_data(self, data: str) -> None:
        self.parts.append(data)


def text_of(html: str) -> str:
    """What `textContent` of an element with this inner HTML is."""
    parser = _TextContent()
    parser.feed(html)
    parser.close()
    return "".join(parser.parts)


@dataclass
class _Shown:
    html: str = ""
    words: str = ""  # appended to the last text of the HTML
    done: bool = False

    @property
    def text(self) -> str:
        return text_of(self.html) + self.words


@dataclass
class Browser:
    """Applies ops and complains where a real page would ask for everything again."""

    blocks: list[_Shown] = field(default_factory=list)

    def apply(self, ops: tuple[Op, ...]) -> None:
        for op in ops:
            match op:
                case Text(block, offset, text):
                    shown = self._open(block)
                    assert len(shown.text) == offset, (op, shown)
                    shown.words += text
                case Code(block, lang):
                    self._open(block, create=True)
                    self.blocks[block] = _Shown(f'<pre><code class="language-{escape(lang)}"></code></pre>')
                case Html(block, html):
                    self._open(block, create=True)
                    self.blocks[block] = _Shown(html)
                case Done(block, html):
                    self._open(block, create=True)
                    self.blocks[block] = _Shown(html, done=True)
                case Replace(blocks):
                    self.blocks = [_Shown(html, done=True) for html in blocks]

    def _open(self, block: int, create: bool = False) -> _Shown:
        if create and block == len(self.blocks):
            assert not self.blocks or self.blocks[-1].done, "a block begins before the one above it ended"
            self.blocks.append(_Shown())
        assert not self.blocks[block].done, f"block {block} has ended"
        return self.blocks[block]

    @property
    def html(self) -> str:
        return "".join(shown.html + escape(shown.words) for shown in self.blocks)

    @property
    def text(self) -> str:
        """The words of all blocks; a block that is empty does not show."""
        return "\f".join(shown.text for shown in self.blocks if shown.text)
