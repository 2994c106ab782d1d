"""JSON as text and as plain values: bounded reading, one canonical text, a digest of it.

Nothing here recurses into a value, so nesting of any depth ends in `JsonError`, never in `RecursionError`.
"""

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

from agentweb.schema.problems import render

MAX_DEPTH = 64
"""Lists and objects inside each other that we read, compare and sign."""

MAX_INTEGER_BITS = 13_000
"""About 3,900 digits: Python itself refuses to print more than 4,300."""

EXACT = 2**53
"""Whole floats below this size are exactly one integer, above it they stand for many."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")

# The reader's own words on the left, our keyword on the right; the first match counts.
_REASONS = (
    ("Expecting ',' delimiter", "json.comma"),
    ("Expecting ':' delimiter", "json.colon"),
    ("Expecting property name", "json.name"),
    ("Illegal trailing comma", "json.trailing_comma"),
    ("Unterminated string", "json.open_text"),
    ("Invalid control character", "json.control"),
    ("Invalid \\", "json.escape"),
    ("Extra data", "json.extra"),
)


class JsonError(ValueError):
    """Text or a value that we do not take as JSON. `keyword` and `params` are for translation."""

    def __init__(self, keyword: str, /, **params: Any) -> None:
        self.keyword = keyword
        self.params = params
        self.message = render(keyword, params)
        super().__init__(self.message)


def parse_json(text: str, max_depth: int = MAX_DEPTH) -> Any:
    """The value of a JSON text; of a name given twice the last one counts. Raises `JsonError`."""
    try:
        value = json.loads(text, parse_float=_finite, parse_int=_whole, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        keyword = next((ours for theirs, ours in _REASONS if error.msg.startswith(theirs)), "json.value")
        raise JsonError(keyword, line=error.lineno, column=error.colno) from None
    except RecursionError:
        raise JsonError("json.depth", limit=max_depth) from None
    inspect(value, max_depth)
    return value


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise JsonError("json.number_size")
    return number


def _whole(digits: str) -> int:
    if len(digits) > 3_900:
        raise JsonError("json.number_size")
    return int(digits)


def _refuse_constant(name: str) -> NoReturn:
    raise JsonError("json.constant", name=name)


def inspect(value: Any, max_depth: int = MAX_DEPTH, max_nodes: int | None = None) -> None:
    """Raise `JsonError` unless the value is plain JSON of at most this depth and number of values."""
    stack: list[tuple[Any, int]] = [(value, 0)]
    seen = 0
    while stack:
        item, depth = stack.pop()
        seen += 1
        if max_nodes is not None and seen > max_nodes:
            raise JsonError("json.size", limit=max_nodes)
        children = _children(item)
        if children is None:
            _inspect_leaf(item)
            continue
        if depth >= max_depth:
            raise JsonError("json.depth", limit=max_depth)
        stack.extend((child, depth + 1) for child in children)


def _children(item: Any) -> list[Any] | None:
    """What is directly inside a list or object; None for a leaf."""
    if isinstance(item, Mapping):
        for key in item:
            if not isinstance(key, str):
                raise JsonError("json.key")
        return list(item.values())
    if isinstance(item, list | tuple):
        return list(item)
    return None


def _inspect_leaf(item: Any) -> None:
    if item is None or isinstance(item, bool | str):
        return
    if isinstance(item, int):
        if item.bit_length() > MAX_INTEGER_BITS:
            raise JsonError("json.number_size")
    elif isinstance(item, float):
        if not math.isfinite(item):
            raise JsonError("json.constant", name=str(item))
    else:
        raise JsonError("json.not_json", name=type(item).__name__)


def rebuild(value: Any, leaf: Callable[[Any], Any] = lambda item: item, key: Callable[[Any], Any] = str) -> Any:
    """A deep copy in plain dicts and lists, each leaf and each name passed through a function.

    Where two names become the same, the later one counts. Works at any depth; a value that contains itself
    never ends, so `inspect` whatever did not come from JSON text.
    """
    root: list[Any] = [None]
    stack: list[tuple[Any, Any, Any]] = [(value, root, 0)]
    while stack:
        item, target, slot = stack.pop()
        if isinstance(item, Mapping):
            named = {key(name): child for name, child in item.items()}
            fresh: dict[Any, Any] = dict.fromkeys(named)
            target[slot] = fresh
            stack.extend((child, fresh, name) for name, child in named.items())
        elif isinstance(item, list | tuple):
            entries: list[Any] = [None] * len(item)
            target[slot] = entries
            stack.extend((child, entries, index) for index, child in enumerate(item))
        else:
            target[slot] = leaf(item)
    return root[0]


def canonical(value: Any) -> str:
    """The one JSON text of a value: names sorted by code point, no spaces, non-ASCII written as it is.

    A float that is a whole number below 2**53 is written as that integer (30.0 as 30, -0.0 as 0), since JSON Schema
    takes them for the same number; other floats keep the shortest text that reads back alike. Half characters (lone
    surrogates) are escaped, so that the text can always be encoded. Raises `JsonError` for NaN, infinity, what is not
    JSON, and nesting beyond `MAX_DEPTH`.
    """
    inspect(value)
    plain = rebuild(value, leaf=_normal_number)
    text = json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _normal_number(item: Any) -> Any:
    if isinstance(item, float) and item.is_integer() and abs(item) < EXACT:
        return int(item)
    return item


def digest(value: Any) -> str:
    """SHA-256 of the canonical text, 64 hexadecimal digits. Raises `JsonError` like `canonical`."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()


def same(left: Any, right: Any) -> bool:
    """Whether two values have the same canonical text; also for depths and numbers that have none."""
    stack = [(left, right)]
    while stack:
        one, other = stack.pop()
        if isinstance(one, Mapping) and isinstance(other, Mapping):
            if one.keys() != other.keys():
                return False
            stack.extend((one[key], other[key]) for key in one)
        elif isinstance(one, list | tuple) and isinstance(other, list | tuple):
            if len(one) != len(other):
                return False
            stack.extend(zip(one, other, strict=True))
        elif not _same_leaf(one, other):
            return False
    return True


def _same_leaf(one: Any, other: Any) -> bool:
    one, other = _normal_number(one), _normal_number(other)
    if type(one) is not type(other) or isinstance(one, Mapping | list | tuple):
        return False
    return bool(one == other) or (one != one and other != other)


def pretty(value: Any) -> str | None:
    """JSON text for people, indented, in the given order; None where the value cannot be shown as JSON."""
    try:
        inspect(value)
    except JsonError:
        return None
    text = json.dumps(rebuild(value), indent=2, ensure_ascii=False)
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def brief(value: Any, limit: int = 60) -> str:
    """JSON text of a value on one line, cut to `limit` characters; for use inside a message."""
    if isinstance(value, str):
        value = value[: limit + 1]
    elif isinstance(value, Mapping):
        return "{…}" if value else "{}"
    elif isinstance(value, list | tuple):
        return "[…]" if value else "[]"
    try:
        text = canonical(value)
    except JsonError:
        return "…"
    return text if len(text) <= limit else text[: limit - 1] + "…"
