"""The terms on which people are asked about a call."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Terms:
    """``wait_minutes``: so long people may decide, then the call is not run; 0: for ever."""

    wait_minutes: int = 0
