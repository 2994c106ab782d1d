"""Who has an approval on their screen just now, and who is at work on it. Known for seconds, and never relied on."""

import time
from collections.abc import Iterable, Mapping
from typing import Any

from django.conf import settings

from agentweb.runs.live.publish import publisher

LOOKS, DECIDES = "looks", "decides"
HERE_S = 40  # a page says that it is still there about every 15 s
OPEN_S = 600  # for how long after that somebody has just had it open
MOST = 50  # approvals of one page


def note(user: int, modes: Mapping[str, str]) -> None:
    """Say which approvals this person has before them: public id → LOOKS or DECIDES."""
    if not settings.REDIS_URL or not modes:
        return
    until = int(time.time()) + HERE_S

    def write(pipeline: Any) -> None:
        for approval, mode in list(modes.items())[:MOST]:
            pipeline.hset(_key(approval), str(user), f"{mode}:{until}")
            pipeline.expire(_key(approval), OPEN_S)

    publisher(settings.REDIS_URL).together(write)


def here(approvals: Iterable[str]) -> dict[str, dict[int, str]]:
    """By approval, who has it before them now: row id of the person → LOOKS or DECIDES."""
    names = list(approvals)[:MOST]
    now = time.time()
    found = {}
    for name, people in zip(names, _all(names), strict=False):
        fresh = {int(user): mode for user, mode, until in map(_read, people.items()) if until > now}
        found[name] = fresh
    return found


def somebody_had(approvals: Iterable[str]) -> set[str]:
    """The approvals that somebody had before them within the last minutes."""
    names = list(approvals)
    return {name for name, people in zip(names, _all(names), strict=False) if people}


def _all(names: list[str]) -> list[Mapping[bytes, bytes]]:
    if not settings.REDIS_URL or not names:
        return []

    def read(pipeline: Any) -> None:
        for name in names:
            pipeline.hgetall(_key(name))

    return publisher(settings.REDIS_URL).together(read)


def _read(entry: tuple[bytes, bytes]) -> tuple[bytes, str, int]:
    user, said = entry
    mode, _colon, until = said.decode().partition(":")
    return user, mode, int(until)


def _key(approval: str) -> str:
    return f"aw:here:{approval}"
