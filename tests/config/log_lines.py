"""The lines that a process would write, kept for a test."""

import io
import json
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from agentweb.config import logs


class Written(logs.Lines):
    """The handler of the site, into memory."""

    def __init__(self, form: str = logs.JSON) -> None:
        super().__init__(io.StringIO())
        self.setFormatter(logs.formatter(form))

    @property
    def text(self) -> str:
        return self.stream.getvalue()

    @property
    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.text.splitlines()]

    def about(self, words: str) -> dict[str, Any]:
        """The one line whose event has the words."""
        [found] = [line for line in self.lines if words in line["event"]]
        return found


@contextmanager
def written(form: str = logs.JSON) -> Iterator[Written]:
    handler, root = Written(form), logging.getLogger()
    root.addHandler(handler)
    try:
        yield handler
    finally:
        root.removeHandler(handler)
