"""The argument text of a tool call: where a JSON value ends, and what can be made of it without guessing."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass

from agentweb.engine.enums import Invalid
from agentweb.engine.messages import Json
from agentweb.llm.cleaning import checked_json

_STRING_STOP = re.compile(r'["\\]')
_STRUCTURE = re.compile(r'["{}\[\]]')
_SPACE = re.compile(r"\s*")


def _no_constant(text: str) -> float:
    raise ValueError(f"{text} is not JSON")


def _finite(text: str) -> float:
    value = float(text)
    if not math.isfinite(value):
        raise ValueError(f"{text} is too large a number")
    return value


# strict=False takes a line break inside a string as what it plainly is; nothing else is forgiven.
_DECODER = json.JSONDecoder(strict=False, parse_constant=_no_constant, parse_float=_finite)


class ValueScan:
    """Follows JSON text as it comes, in linear time, to tell whether its first value is whole."""

    def __init__(self) -> None:
        self.complete = False
        self._depth = 0
        self._in_string = False
        self._escaped = False

    @property
    def is_open(self) -> bool:
        """The text ended inside a string, an object or a list."""
        return not self.complete and (self._in_string or self._depth > 0)

    def feed(self, text: str) -> None:
        at = 0
        while at < len(text) and not self.complete:
            at = self._inside_string(text, at) if self._in_string else self._between(text, at)

    def _inside_string(self, text: str, at: int) -> int:
        if self._escaped:
            self._escaped = False
            return at + 1
        stop = _STRING_STOP.search(text, at)
        if stop is None:
            return len(text)
        if stop.group() == "\\":
            self._escaped = True
        else:
            self._in_string = False
            self.complete = self._depth == 0
        return stop.end()

    def _between(self, text: str, at: int) -> int:
        stop = _STRUCTURE.search(text, at)
        if stop is None:
            return len(text)
        mark = stop.group()
        if mark == '"':
            self._in_string = True
        elif mark in "{[":
            self._depth += 1
        else:
            self._depth = max(0, self._depth - 1)
            self.complete = self._depth == 0
        return stop.end()


@dataclass(frozen=True, slots=True)
class Arguments:
    """Parsed arguments; ``value`` is None exactly when ``invalid`` is set, and ``detail`` says what is wrong."""

    value: Mapping[str, Json] | None
    raw: str
    invalid: Invalid | None = None
    detail: str = ""


def split_values(raw: str) -> list[str]:
    """The objects that follow each other in one argument text.

    An empty object in front of another is a placeholder; an equal repeat, a repeat that was cut off and junk behind
    a whole value are dropped. Text that does not begin with a whole value comes back as it is.
    """
    start = _space(raw, 0)
    end = _value_end(raw, start)
    if end is None:
        return [raw]
    pieces = [raw[start:end]]
    while raw.startswith("{", at := _space(raw, end)):
        end = _value_end(raw, at)
        if end is None:
            rest = raw[at:].rstrip()
            if rest.startswith('{"') and not pieces[-1].startswith(rest):
                pieces.append(rest)
            break
        piece = raw[at:end]
        if not same_value(piece, pieces[-1]):
            pieces.append(piece)
    if len(pieces) > 1 and _value(pieces[0]) == {}:
        del pieces[0]
    return pieces


def same_value(one: str, other: str) -> bool:
    return one == other or _value(one) == _value(other)


def _space(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at


def _value_end(text: str, at: int) -> int | None:
    try:
        return int(_DECODER.raw_decode(text, at)[1])
    except (ValueError, RecursionError):
        return None


def _value(text: str) -> Json:
    try:
        return _DECODER.decode(text)
    except (ValueError, RecursionError):
        return None


def parse_arguments(raw: str, *, cut_off: bool) -> Arguments:
    """``cut_off``: the answer hit the output limit, so what does not parse was never finished."""
    if not raw.strip():
        if cut_off:
            return Arguments(None, raw, Invalid.TRUNCATED, "The answer was cut off before the arguments began.")
        return Arguments({}, raw)
    try:
        value = _unwrapped(raw)
        cleaned = checked_json(value)
    except RecursionError:
        return Arguments(None, raw, Invalid.MALFORMED, "The arguments are nested too deeply.")
    except ValueError as error:
        return _broken(raw, cut_off, error)
    if not isinstance(cleaned, dict):
        kind = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}.get(type(cleaned), "a number")
        return Arguments(None, raw, Invalid.NOT_OBJECT, f"The arguments must be a JSON object, but they are {kind}.")
    return Arguments(cleaned, raw)


def _unwrapped(raw: str) -> Json:
    """The value of the text; a text that holds the JSON of an object or of a list stands for that."""
    value = _DECODER.decode(raw)
    for _ in range(2):
        if not isinstance(value, str) or not value.lstrip().startswith(("{", "[", '"')):
            break
        value = _DECODER.decode(value)
    return value


def _broken(raw: str, cut_off: bool, error: ValueError) -> Arguments:
    scan = ValueScan()
    scan.feed(raw)
    if cut_off or scan.is_open:
        return Arguments(None, raw, Invalid.TRUNCATED, "The arguments end in the middle, so the call was not run.")
    return Arguments(None, raw, Invalid.MALFORMED, f"The arguments are not valid JSON: {error}.")
