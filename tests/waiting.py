"""Waiting for states, never for seconds."""

import time
from collections.abc import Callable
from typing import TypeVar

Found = TypeVar("Found")
_FIRST_PAUSE_S, _LAST_PAUSE_S, _LONGER = 0.01, 0.16, 1.5  # who asks too often takes the time of those who work


def until(state: Callable[[], Found], seconds: float = 20.0, what: str = "") -> Found:
    """The first truthy answer of `state`. AssertionError with `what` when there is none in time."""
    deadline = time.monotonic() + seconds
    pause = _FIRST_PAUSE_S
    while True:
        found = state()
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:g} s: {what or getattr(state, '__name__', 'the state')}")
        time.sleep(pause)
        pause = min(_LAST_PAUSE_S, pause * _LONGER)


def at_once(measure: Callable[[], float], seconds: float, goes: int = 3) -> None:
    """What is measured takes less than so many seconds, in one of up to three goes: a busy machine may stop all of us
    for a moment, which says nothing about what is tested."""
    took = []
    while len(took) < goes:
        took.append(measure())
        if took[-1] < seconds:
            return
    raise AssertionError(f"took {took} seconds, not less than {seconds:g}")
