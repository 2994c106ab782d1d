"""Cleans streamed text, where a character may come in two halves."""

import re

from agentweb.engine.messages import Json
from agentweb.schema.json_text import inspect
from agentweb.schema.text import clean, clean_json

_HIGH_AT_END = re.compile("[\ud800-\udbff]\\Z")


def checked_json(value: Json) -> Json:
    """A clean copy. Raises JsonError (a ValueError) for nesting and numbers beyond what we take as JSON."""
    inspect(value)
    return clean_json(value)


class TextCleaner:
    """Cleans a stream of fragments; half a character at the end of one waits for the next."""

    def __init__(self) -> None:
        self._half = ""

    def feed(self, fragment: str) -> str:
        text = self._half + fragment
        self._half = ""
        if text and _HIGH_AT_END.search(text):
            text, self._half = text[:-1], text[-1]
        return clean(text)

    def close(self) -> str:
        rest, self._half = self._half, ""
        return clean(rest)
