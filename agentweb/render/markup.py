"""Tokens to HTML: without white space between tags, so that the text of a block is exactly its words."""

import re
from collections.abc import Sequence

from markdown_it.common.utils import escapeHtml, unescapeAll
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from agentweb.render.dialect import References, read_inlines
from agentweb.render.highlight import highlight
from agentweb.render.sanitize import clean_html

_LANGUAGE = re.compile(r"[A-Za-z0-9_+#.-]{1,40}")
_ALIGNMENT = re.compile(r"text-align:(left|center|right)")
_DIRECTED = frozenset(
    {"paragraph_open", "heading_open", "bullet_list_open", "ordered_list_open", "blockquote_open", "table_open"}
)


class _Renderer(RendererHTML):
    def renderToken(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        if token.hidden:
            return ""
        return f"</{token.tag}>" if token.nesting == -1 else f"<{token.tag}{self.renderAttrs(token)}>"

    def hardbreak(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return "<br>"

    def softbreak(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return "\n"

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return _code(tokens[idx].content, language_of(tokens[idx].info), bool(env["coloured"]))

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return _code(tokens[idx].content, "", False)

    def table_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        # The wrapper scrolls, so the keyboard must be able to reach it.
        return f'<div class="table-scroll" tabindex="0"{self.renderAttrs(tokens[idx])}><table>'

    def table_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return "</table></div>"

    def th_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return _cell(tokens[idx])

    def td_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return _cell(tokens[idx])


_RENDERER = _Renderer()
_OPTIONS = OptionsDict(
    {
        "maxNesting": 20,
        "html": False,
        "linkify": False,
        "typographer": False,
        "quotes": "",
        "xhtmlOut": False,
        "breaks": False,
        "langPrefix": "language-",
        "highlight": None,
    }
)


def language_of(info: str) -> str:
    """The language that stands behind an opening fence; "" if none or not a name."""
    words = unescapeAll(info).split(maxsplit=1)
    return words[0] if words and _LANGUAGE.fullmatch(words[0]) else ""


def block_html(tokens: list[Token], references: References, *, coloured: bool) -> str:
    """The safe HTML of one top-level block; reads its inlines. Code gets colours only where `coloured`."""
    read_inlines(tokens, references)
    if tokens[0].type in _DIRECTED:
        tokens[0].attrSet("dir", "auto")
    return clean_html(_RENDERER.render(tokens, _OPTIONS, {"coloured": coloured}))


def plain_html(text: str) -> str:
    """Text that is not read as markdown, as it is."""
    return clean_html(f'<pre class="plain" dir="auto">{_first_line_kept(escapeHtml(text))}</pre>')


def text_length(tokens: Sequence[Token]) -> int:
    """Code points of text that the HTML of these tokens shows."""
    length = 0
    for token in tokens:
        if token.type == "softbreak":
            length += 1
        elif token.children is not None:
            length += text_length(token.children)
        elif token.type != "inline":
            length += len(token.content)
    return length


def _first_line_kept(escaped: str) -> str:
    # HTML drops a line end that follows <pre> directly.
    return "\n" + escaped if escaped.startswith("\n") else escaped


def _code(code: str, language: str, coloured: bool) -> str:
    inner = highlight(code, language) if coloured else None
    attribute = f' class="language-{language}"' if language else ""
    return f'<pre dir="ltr" tabindex="0"><code{attribute}>{escapeHtml(code) if inner is None else inner}</code></pre>'


def _cell(token: Token) -> str:
    alignment = _ALIGNMENT.fullmatch(str(token.attrs.get("style", "")))
    return f'<{token.tag} class="align-{alignment[1]}">' if alignment else f"<{token.tag}>"
