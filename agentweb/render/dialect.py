"""The markdown that we read: CommonMark with tables and strikethrough, without raw HTML, with bounds.

Blocks and inlines are read in two steps, since a border between blocks must be found many times while a text
grows, and what stands inside a block matters only when it is shown.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_block import table as read_table
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

from agentweb.render.sanitize import allowed_url

MAX_LEVEL = 32  # nested tokens; a list takes two levels. Deeper text is kept, as plain lines
MAX_BRACKETS = 16  # unmatched "[" in one inline text; the time for links grows with them
_DELIMITER_ROW = re.compile(r"[-:|\s]*-[-:|\s]*")
_BRACKET = re.compile(r"[\[\]]")

References = dict[str, dict[str, object]]


@dataclass(frozen=True, slots=True)
class Group:
    """The tokens of one top-level block and its lines, from `start` up to and without `end`."""

    tokens: list[Token]
    start: int
    end: int


class _Parser(MarkdownIt):
    def validateLink(self, url: str) -> bool:
        return allowed_url(url)


def _too_deep(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """Below MAX_LEVEL lines are text, however they begin: the parser would leave them out."""
    if state.level < MAX_LEVEL or silent:
        return False
    line = start + 1
    while line < end and not state.isEmpty(line) and state.sCount[line] >= state.blkIndent:
        line += 1
    state.line = line
    state.push("paragraph_open", "p", 1).map = [start, line]
    inline = state.push("inline", "", 0)
    inline.content = state.getLines(start, line, state.blkIndent, False).strip()
    inline.map, inline.children = [start, line], []
    inline.meta["plain"] = True
    state.push("paragraph_close", "p", -1)
    return True


def _bounded_table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """A table that has no more cells than characters: short rows below a wide head would multiply the text."""
    if start + 2 > end:
        return False
    row = state.src[state.bMarks[start + 1] + state.tShift[start + 1] : state.eMarks[start + 1]]
    if not _DELIMITER_ROW.fullmatch(row):
        return False
    columns, line, first = row.count("|") + 1, start + 2, state.bMarks[start]
    while line < end and not state.isEmpty(line) and (line - start) * columns <= 16 + state.eMarks[line] - first:
        line += 1
    return read_table(state, start, line, silent)


def _read_inlines(state: StateCore) -> None:
    for token in state.tokens:
        if token.type != "inline":
            continue
        if token.meta.get("plain") or _too_many_brackets(token.content):
            token.children = _lines_as_text(token.content)
        else:
            token.children = []
            state.md.inline.parse(token.content, state.md, state.env, token.children)


def _too_many_brackets(content: str) -> bool:
    if content.count("[") <= MAX_BRACKETS:
        return False
    depth = 0
    for bracket in _BRACKET.findall(content):
        depth = depth + 1 if bracket == "[" else max(depth - 1, 0)
        if depth > MAX_BRACKETS:
            return True
    return False


def _lines_as_text(content: str) -> list[Token]:
    children: list[Token] = []
    for line in content.split("\n"):
        if children:
            children.append(Token("softbreak", "br", 0))
        children.append(Token("text", "", 0, content=line))
    return children


def _pictures_to_links(state: StateCore) -> None:
    """A picture from elsewhere tells its host who reads what, so a person has to follow a link instead."""
    for token in state.tokens:
        if token.children and any(child.type == "image" for child in token.children):
            token.children = _without_pictures(token.children)


def _without_pictures(children: Sequence[Token]) -> list[Token]:
    kept: list[Token] = []
    links = 0
    for child in children:
        links += {"link_open": 1, "link_close": -1}.get(child.type, 0)
        if child.type == "image":
            kept += _picture_link(child, inside_link=links > 0)
        else:
            kept.append(child)
    return kept


def _picture_link(image: Token, inside_link: bool) -> list[Token]:
    source = str(image.attrs.get("src", ""))
    host = _host(source)
    alt = _plain_text(image.children or []).strip()
    label = Token("text", "", 0, content=f"{alt} ({host})".strip() if host else alt)
    if inside_link or not host:
        return [label]
    opening = Token("link_open", "a", 1, attrs={"href": source})
    if title := image.attrs.get("title"):
        opening.attrs["title"] = title
    return [opening, label, Token("link_close", "a", -1)]


def _host(url: str) -> str:
    try:
        parts = urlsplit(url)
        return (parts.hostname or "") if parts.scheme in ("http", "https") else ""
    except ValueError:  # such as an unfinished IPv6 address
        return ""


def _plain_text(children: Sequence[Token]) -> str:
    """The text of inline tokens; pictures inside the words of a picture count with their own words."""
    parts = []
    for child in children:
        if child.type == "image":
            parts.append(_plain_text(child.children or []))
        elif child.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        else:
            parts.append(child.content)
    return "".join(parts)


def _block_reader() -> MarkdownIt:
    # The nesting bound of the library drops text, so it is out of reach and _too_deep comes before it.
    reader = _Parser("commonmark", {"html": False, "maxNesting": 10_000})
    reader.block.ruler.before("table", "too_deep", _too_deep)
    reader.block.ruler.at("table", _bounded_table, {"alt": ["paragraph", "reference"]})
    return reader.enable("table")


def _inline_reader() -> MarkdownIt:
    reader = _Parser("commonmark", {"html": False}).enable("strikethrough")
    reader.core.ruler.at("inline", _read_inlines)
    reader.core.ruler.push("pictures_to_links", _pictures_to_links)
    reader.core.ruler.enableOnly(["inline", "text_join", "pictures_to_links"])
    return reader


_BLOCKS = _block_reader()
_INLINES = _inline_reader()


def read_blocks(text: str, references: References) -> list[Group]:
    """The top-level blocks of the text, inlines still unread. New link definitions are added to `references`."""
    tokens: list[Token] = []
    _BLOCKS.block.parse(text, _BLOCKS, {"references": references}, tokens)
    groups: list[Group] = []
    current: list[Token] = []
    for token in tokens:
        current.append(token)
        if token.level == 0 and token.nesting <= 0:
            start, end = current[0].map or (0, 0)
            groups.append(Group(current, start, end))
            current = []
    return groups


def read_inlines(tokens: list[Token], references: References) -> None:
    """Fill in the children of the inline tokens, in place."""
    _INLINES.core.process(StateCore("", _INLINES, {"references": references}, tokens))
