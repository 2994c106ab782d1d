"""The last wall: explicit lists of the tags, attributes and values that may reach a browser."""

import re
from functools import lru_cache

import nh3

from agentweb.render.highlight import TOKEN_CLASSES

_TAG_NAMES = "p h1 h2 h3 h4 h5 h6 ul ol li blockquote hr br pre code em strong s a table thead tbody tr th td div span"
TAGS = frozenset(_TAG_NAMES.split())
MAX_URL = 2_000
REL = "noopener noreferrer nofollow"

_BLOCK_TAGS = ("p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "blockquote", "pre", "div")
_ATTRIBUTES: dict[str, set[str]] = {tag: {"dir"} for tag in _BLOCK_TAGS}
_ATTRIBUTES["ol"] = {"dir", "start"}
_ATTRIBUTES["pre"] = {"dir", "class", "tabindex"}
_ATTRIBUTES["div"] = {"dir", "class", "tabindex"}
_ATTRIBUTES["a"] = {"href", "title"}
_ATTRIBUTES |= {tag: {"class"} for tag in ("code", "span", "th", "td")}

_VALUES: dict[str, re.Pattern[str]] = {
    "rel": re.compile(REL),  # set by the cleaner itself; no tag may bring its own
    "dir": re.compile(r"auto|ltr"),
    "tabindex": re.compile("0"),
    "start": re.compile(r"[0-9]{1,9}"),
    "href": re.compile(r"(?:https?://|mailto:)[^\s]*", re.IGNORECASE),
}
_ALIGNED = re.compile(r"align-(?:left|center|right)")
_CLASSES: dict[str, re.Pattern[str]] = {
    "code": re.compile(r"language-[A-Za-z0-9_+#.-]{1,40}"),
    "th": _ALIGNED,
    "td": _ALIGNED,
    "div": re.compile("table-scroll"),
    "pre": re.compile("plain"),
}
# A lone surrogate cannot be written as UTF-8, and NUL is not text: both become the replacement character.
_NOT_TEXT = re.compile("[\x00\ud800-\udfff]")


def allowed_url(url: str) -> bool:
    """Whether a link may lead to `url`: absolute, one of the schemes, not overly long."""
    return len(url) <= MAX_URL and _VALUES["href"].fullmatch(url) is not None


def clean_text(text: str) -> str:
    """The text with "\\n" as its only line end, and nothing in it that cannot be encoded."""
    return _NOT_TEXT.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n"))


def clean_html(html: str) -> str:
    """The HTML with everything removed that is not on the lists."""
    return _CLEANER.clean(html)


@lru_cache(maxsize=1024)
def _attribute(tag: str, name: str, value: str) -> str | None:
    if name == "class":
        return _class(tag, value)
    pattern = _VALUES.get(name)
    if name == "title" or (pattern is not None and pattern.fullmatch(value)):
        return value
    return None


def _class(tag: str, value: str) -> str | None:
    if tag == "span":
        return " ".join(word for word in value.split() if word in TOKEN_CLASSES) or None
    pattern = _CLASSES.get(tag)
    return value if pattern is not None and pattern.fullmatch(value) else None


_CLEANER = nh3.Cleaner(
    tags=TAGS,
    clean_content_tags={"script", "style"},
    attributes=_ATTRIBUTES,
    attribute_filter=_attribute,
    link_rel=REL,
    url_schemes={"http", "https", "mailto"},
    url_relative="deny",
)
