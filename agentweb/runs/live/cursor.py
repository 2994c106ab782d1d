"""A place in what a run has shown: the last event, and how many live frames came after it."""

import re
from functools import lru_cache
from typing import NamedTuple

_FORM = re.compile(r"(\d{1,10})(?:-(\d{1,15}))?", re.ASCII)


class Cursor(NamedTuple):
    """Ordered as frames are. As text, and as the id of a Redis stream entry: ``"<event>-<delta>"``."""

    event: int
    delta: int = 0

    @classmethod
    def parse(cls, text: str) -> "Cursor":
        """Also takes a plain event number. Raises ValueError."""
        return _parsed(text)

    def __str__(self) -> str:
        return f"{self.event}-{self.delta}"


@lru_cache(maxsize=4096)  # each frame's two cursors are read several times on its way to each page
def _parsed(text: str) -> Cursor:
    found = _FORM.fullmatch(text)
    if found is None:
        raise ValueError(f"not a cursor: {text[:40]!r}")
    return Cursor(int(found[1]), int(found[2] or 0))


START = Cursor(0, 0)
