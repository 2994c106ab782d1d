"""Colours for code: Pygments writes short class names, and one static sheet gives them colours."""

from functools import cache

from pygments import format as format_tokens
from pygments.formatters.html import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES

MAX_CODE = 12_000  # code points; longer code is shown without colours
MAX_LINE = 500  # lexers are regular expressions, and very long lines are where those become slow

TOKEN_CLASSES = frozenset(name for name in STANDARD_TYPES.values() if name)

# A model chooses the language, so only lexers that are common and known to be quick may run.
_COMMON = (
    "bash sh shell zsh console powershell ps1 bat docker dockerfile make makefile nginx ini toml yaml yml json jsonc "
    "json5 xml html css scss less javascript js jsx typescript ts tsx python py python3 pycon rust rs go golang c cpp "
    "c++ h csharp cs c# java kotlin kt scala swift ruby rb php perl lua r julia sql mysql postgresql postgres sqlite3 "
    "diff patch http graphql protobuf proto terraform hcl haskell hs elixir ex erlang clojure clj dart groovy "
    "fortran matlab cmake vim tex latex properties django jinja"
)
_OTHER_NAMES = {"h": "c", "jsonc": "json5", "kt": "kotlin", "patch": "diff"}
LANGUAGES = frozenset(_COMMON.split())

# Lexers that look far ahead from every word: some texts take them time with the square of the length.
_SLOW = frozenset({"c#", "cs", "csharp", "hcl", "java", "make", "makefile", "terraform"})
MAX_SLOW_CODE = 4_000  # code points

# class names -> colour on a light ground, colour on a dark ground, further declarations
_PALETTE: tuple[tuple[str, str, str, str], ...] = (
    ("c c1 ch cm cp cpf cs sd gp", "#57606a", "#9da7b3", ""),
    ("k kc kd kn kp kr ow", "#98175a", "#ff9bc0", ""),
    ("kt nb bp ne nc nn", "#7d4300", "#f0b67f", ""),
    ("s s1 s2 sa sb sc dl sh si sr ss sx se gi", "#0b5a33", "#8fd6a4", ""),
    ("m mb mf mh mi mo il l ld no", "#0b4a99", "#93bfff", ""),
    ("nf fm nt nd gh gu", "#5b2da3", "#d0b0ff", ""),
    ("na nl py nv vc vg vi vm ni", "#0a5566", "#86d3e3", ""),
    ("gd gr gt", "#9c0f24", "#ffa3a3", ""),
    ("gh gu gs", "", "", "font-weight: 600"),
    ("ge", "", "", "text-decoration: underline"),
)

_FORMATTER: HtmlFormatter[str] = HtmlFormatter(nowrap=True)


@cache  # as many entries as LANGUAGES
def _lexer(language: str) -> Lexer:
    return get_lexer_by_name(_OTHER_NAMES.get(language, language), stripnl=False, ensurenl=False)


def highlight(code: str, language: str) -> str | None:
    """The code as HTML with classes, or None when it is to be shown plain: unknown language, too long, not faithful."""
    language = language.lower()
    if language not in LANGUAGES or not _is_quick(code, language):
        return None
    tokens = list(_lexer(language).get_tokens(code))
    if "".join(value for _, value in tokens) != code:
        return None
    coloured = format_tokens(iter(tokens), _FORMATTER)
    # The formatter ends the last line even where the code does not.
    return coloured if code.endswith("\n") else coloured.removesuffix("\n")


def _is_quick(code: str, language: str) -> bool:
    limit = MAX_SLOW_CODE if language in _SLOW else MAX_CODE
    return len(code) <= limit and max(map(len, code.split("\n"))) <= MAX_LINE


def stylesheet(dark: bool) -> str:
    """The rules for one ground, light or dark."""
    return "".join(_rule(names, dark_colour if dark else light, more) for names, light, dark_colour, more in _PALETTE)


def combined_stylesheet() -> str:
    """The rules for both grounds in one sheet; which one holds follows the page's `color-scheme`."""
    head = "/* Colours of code. Made by `python -m agentweb.render`; the palette is in highlight.py. */\n"
    return head + "".join(
        _rule(names, f"light-dark({light}, {dark})" if light else "", more) for names, light, dark, more in _PALETTE
    )


def _rule(names: str, colour: str, more: str) -> str:
    selectors = ", ".join(f"pre code .{name}" for name in names.split())
    body = "; ".join(part for part in (f"color: {colour}" if colour else "", more) if part)
    return f"{selectors} {{ {body} }}\n"
