"""A whole markdown text as safe HTML blocks."""

import logging
from dataclasses import dataclass

from agentweb.render.borders import Borders, Piece
from agentweb.render.dialect import References
from agentweb.render.markup import block_html, plain_html
from agentweb.render.sanitize import clean_text

RENDERER_VERSION = 1  # stored beside rendered HTML; raise it whenever the same text gives other HTML
MAX_HTML = 8_000_000  # code points; blocks beyond are plain text, since references and colours multiply a text

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Block:
    """One top-level block: a paragraph, a list, a table, …"""

    html: str


@dataclass(slots=True)
class Writer:
    """Writes ended blocks one after another and keeps count of what they amount to."""

    written: int = 0

    def write(self, piece: Piece, references: References) -> str:
        """The HTML of the piece; plain text where it is not markdown or too much was written."""
        html = plain_html(piece.source.rstrip("\n"))
        if piece.tokens is not None and self.written <= MAX_HTML:
            try:
                html = block_html(piece.tokens, references, coloured=True)
            except Exception:  # a fault in a parser or a lexer must not cost a run its answer
                _log.exception("a block of %d code points is shown as plain text", len(piece.source))
        self.written += len(html)
        return html


def document(text: str) -> tuple[Block, ...]:
    """The blocks of a markdown text. Takes any text, raises nothing, and takes time in proportion to its length."""
    borders = Borders(tail=clean_text(text))
    pieces = borders.take(final=True)
    writer = Writer()
    return tuple(Block(writer.write(piece, borders.references)) for piece in pieces)


def html(text: str) -> str:
    """The blocks of a markdown text, one after another."""
    return "".join(block.html for block in document(text))
