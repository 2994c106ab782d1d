"""What Redis holds of a run at one moment: its last frames and the text of the message that is being written."""

import json
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from redis.exceptions import RedisError

from agentweb.runs.live import keys
from agentweb.runs.live.connections import connection
from agentweb.runs.live.cursor import START, Cursor

Frame = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Open:
    """The message that is being written: all of its text up to ``cursor``."""

    message: str
    text: str
    thinking: str
    cursor: Cursor


@dataclass(frozen=True, slots=True)
class Window:
    """``frames`` come after the cursor that was asked for, ``last`` is the newest place of the stream."""

    frames: tuple[Frame, ...] = ()
    open: Open | None = None
    last: Cursor = START

    def continues(self, cursor: Cursor) -> bool:
        """Whether the frames lead on from the cursor without a hole."""
        return (cursor_before(self.frames[0]) if self.frames else self.last) == cursor


def cursor_of(frame: Frame) -> Cursor:
    return Cursor.parse(frame["c"])


def cursor_before(frame: Frame) -> Cursor:
    return Cursor.parse(frame["p"])


async def read_window(run: str, cursor: Cursor) -> Window | None:
    """Everything in one atomic read; None when Redis does not answer."""
    if not settings.REDIS_URL:
        return None
    stream, opened, text, thinking = keys.run_keys(run)
    try:
        async with connection().pipeline(transaction=True) as pipe:
            pipe.xrange(stream, f"({cursor}", "+")
            pipe.hgetall(opened)
            pipe.get(text)
            pipe.get(thinking)
            pipe.xrevrange(stream, "+", "-", 1)
            entries, about, written, thought, newest = await pipe.execute()
    except (RedisError, OSError):
        return None
    return Window(
        frames=tuple(json.loads(fields["f"]) for _id, fields in entries),
        open=Open(about["message"], written or "", thought or "", Cursor.parse(about["cursor"])) if about else None,
        last=Cursor.parse(newest[0][0]) if newest else START,
    )


async def range_after(run: str, cursor: Cursor) -> tuple[Frame, ...]:
    """The frames that Redis still holds after the cursor."""
    window = await read_window(run, cursor)
    return window.frames if window else ()


async def snapshot(run: str) -> Open | None:
    """The open message of the run, or None when there is none or Redis does not know."""
    window = await read_window(run, Cursor(10**9))
    return window.open if window else None
