"""Waiting for states, never for seconds."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")
_POLL_SECONDS = 0.02


def until(state: Callable[[], Found], seconds: float = 20.0, what: str = "") -> Found:
    """The first truthy answer of `state`. AssertionError with `what` when there is none in time."""
    deadline = time.monotonic() + seconds
    while True:
        found = state()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:g} s: {what or getattr(state, '__name__', 'the state')}")
        time.sleep(_POLL_SECONDS)
