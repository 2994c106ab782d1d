"""Follows one JSON object while it streams, and gives the texts of its own fields piece by piece."""

import re
from enum import Enum, auto

from agentweb.llm.arguments import ValueScan

_PLAIN = re.compile(r'[^"\\]+')
_SPACE = re.compile(r"[\s,:]*")
_SCALAR = re.compile(r"[^\s,}]+")
_CLOSING = re.compile(r"[}\]]")
_SHORT = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", '"': '"', "\\": "\\", "/": "/"}


_Pieces = list[tuple[str, list[str]]]


class _At(Enum):
    START = auto()
    KEY = auto()  # between fields
    IN_KEY = auto()
    VALUE = auto()  # between a name and its value
    IN_TEXT = auto()
    IN_SCALAR = auto()  # a number or a word
    NESTED = auto()
    END = auto()
    LOST = auto()


class ObjectScan:
    """Feed it from the opening brace on. It checks nothing: whoever wants the value parses ``text`` as a whole."""

    def __init__(self) -> None:
        self.behind = 0  # characters behind its end that are not blank
        self._rest: list[str] = []
        self._at = _At.START
        self._key = ""
        self._escape = ""
        self._high = ""  # the first half of a character that is written as two
        self._nested = ValueScan()
        self._parts: list[str] = []

    @property
    def complete(self) -> bool:
        return self._at is _At.END

    @property
    def text(self) -> str:
        """The object so far."""
        return "".join(self._parts)

    @property
    def rest(self) -> str:
        """What came behind its end."""
        return "".join(self._rest)

    def feed(self, text: str) -> list[tuple[str, str]]:
        """(name of the field, piece of its text), decoded."""
        pieces: _Pieces = []
        at = 0
        while at < len(text) and self._at not in (_At.END, _At.LOST):
            at = self._step(text, at, pieces)
        if self._at is _At.LOST:
            at = len(text)
        self._parts.append(text[:at])
        if at < len(text):
            self._rest.append(text[at:])
            self.behind += len("".join(text[at:].split()))
        return [(name, "".join(parts)) for name, parts in pieces]

    def _step(self, text: str, at: int, pieces: _Pieces) -> int:
        match self._at:
            case _At.IN_KEY | _At.IN_TEXT:
                return self._in_string(text, at, pieces)
            case _At.NESTED:
                return self._in_nested(text, at)
            case _At.IN_SCALAR:
                scalar = _SCALAR.match(text, at)
                at = scalar.end() if scalar else at
                self._at = _At.KEY if at < len(text) else _At.IN_SCALAR
                return at
            case _At.START:
                self._at = _At.KEY if text[at] == "{" else _At.LOST
                return at + 1
        space = _SPACE.match(text, at)
        at = space.end() if space else at
        return at if at == len(text) else self._between(text, at)

    def _between(self, text: str, at: int) -> int:
        mark = text[at]
        if self._at is _At.KEY:
            if mark == '"':
                self._at, self._key = _At.IN_KEY, ""
            else:
                self._at = _At.END if mark == "}" else _At.LOST
            return at + 1
        if mark == '"':
            self._at = _At.IN_TEXT
            return at + 1
        if mark in "{[":
            self._at, self._nested = _At.NESTED, ValueScan()
            return at
        if mark == "}":
            self._at = _At.END
            return at + 1
        self._at = _At.IN_SCALAR
        return at

    def _in_nested(self, text: str, at: int) -> int:
        """Piece by piece up to the next closing bracket, since the scan does not say where the value ended."""
        while at < len(text) and not self._nested.complete:
            stop = _CLOSING.search(text, at)
            end = stop.end() if stop else len(text)
            self._nested.feed(text[at:end])
            at = end
        if self._nested.complete:
            self._at = _At.KEY
        return at

    def _in_string(self, text: str, at: int, pieces: _Pieces) -> int:
        if self._escape:
            return self._in_escape(text, at, pieces)
        plain = _PLAIN.match(text, at)
        if plain:
            self._say(plain[0], pieces)
            return plain.end()
        if text[at] == "\\":
            self._escape = "\\"
        elif self._at is _At.IN_KEY:
            self._at = _At.VALUE
        else:
            self._at = _At.KEY
        return at + 1

    def _in_escape(self, text: str, at: int, pieces: _Pieces) -> int:
        self._escape += text[at]
        if self._escape[1] != "u":
            self._say(_SHORT.get(self._escape[1], self._escape[1]), pieces)
        elif len(self._escape) < 6:
            return at + 1
        else:
            self._say_code(self._escape[2:], pieces)
        self._escape = ""
        return at + 1

    def _say_code(self, digits: str, pieces: _Pieces) -> None:
        try:
            code = int(digits, 16)
        except ValueError:
            code = 0xFFFD
        if 0xD800 <= code < 0xDC00:
            self._high = chr(code)
        elif self._high and 0xDC00 <= code < 0xE000:
            both = (self._high + chr(code)).encode("utf-16", "surrogatepass").decode("utf-16")
            self._high = ""
            self._say(both, pieces)
        else:
            self._say(chr(code), pieces)

    def _say(self, text: str, pieces: _Pieces) -> None:
        if self._high:
            self._high, text = "", "\N{REPLACEMENT CHARACTER}" + text
        if self._at is _At.IN_KEY:
            self._key += text if len(self._key) < 200 else ""
        elif pieces and pieces[-1][0] == self._key:
            pieces[-1][1].append(text)
        else:
            pieces.append((self._key, [text]))
