"""Following a run or a conversation: every event after a cursor, then live, nothing lost and nothing twice.

The order that makes it so: 1. subscribe; 2. ask the rows how far they go; 3. read Redis; 4. read the rows that are
missing up to there; 5. live frames, of which those that were read already are dropped and those that do not join on
start again at 2. Words leave before the event that ends their message is recorded, thus Redis has those of 4 at 3.
"""

import logging
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from uuid import UUID

from django.db import DatabaseError

from agentweb.runs.live import rows
from agentweb.runs.live.cursor import START, Cursor
from agentweb.runs.live.hub import Hub, Notice, hub
from agentweb.runs.live.rows import Recorded
from agentweb.runs.live.window import Frame, Window, cursor_before, cursor_of, read_window

logger = logging.getLogger(__name__)

LOOK_S = 30.0  # between two looks at the rows while nothing comes: an event whose frame was lost shows then
LOOK_WITHOUT_REDIS_S = 1.0
MOST_FRAMES = 150  # of an open message; behind that its whole text is shorter


class Follower:
    """The place of one reader in one run."""

    def __init__(self, run: str, cursor: Cursor) -> None:
        self.run = run
        self.seen = cursor
        self.finished = False

    async def catch_up(self) -> AsyncIterator[Frame]:
        """All that Redis and the rows have after ``seen``."""
        recorded = await rows.recorded(self.run)
        window = await read_window(self.run, self.seen)
        if window and window.continues(self.seen) and len(window.frames) <= MOST_FRAMES:
            for frame in window.frames:
                if not self._joins(frame):  # an event between them was never published
                    break
                yield self._passed(frame)
        async for frame in self._from_rows(recorded):
            yield frame
        for frame in self._from_window(window):
            yield frame

    def take(self, frame: Frame) -> list[Frame] | None:
        """What to pass on of a live frame; None when it does not join on and ``catch_up`` must be called."""
        if "c" not in frame:
            return [frame]
        if cursor_of(frame) <= self.seen:
            return []
        return [self._passed(frame)] if self._joins(frame) else None

    def _joins(self, frame: Frame) -> bool:
        """Directly behind what was seen, and no event between (its own frame may have been lost on the way)."""
        if cursor_before(frame) != self.seen:
            return False
        if events := frame.get("events"):
            return bool(events[0]["number"] == self.seen.event + 1)
        return cursor_of(frame).event == self.seen.event

    def _passed(self, frame: Frame) -> Frame:
        before, self.seen = self.seen, cursor_of(frame)
        if any(event["kind"] == "RunFinished" for event in frame.get("events", ())):
            self.finished = True
        return frame if frame.get("p") == str(before) else {**frame, "p": str(before)}

    async def _from_rows(self, recorded: Recorded) -> AsyncIterator[Frame]:
        while self.seen.event < recorded.last:
            frame = await rows.stored_after(self.run, self.seen, recorded.last)
            if frame is None:
                break
            yield self._passed(frame)
        self.finished = self.finished or recorded.finished

    def _from_window(self, window: Window | None) -> list[Frame]:
        """The open message's text, then the frames behind it, whatever they join on to."""
        if window is None:
            return []
        frames: list[Frame] = []
        if window.open and window.open.cursor > self.seen:
            frames.append(self._passed(self._snapshot(window)))
        frames += [self._passed(frame) for frame in window.frames if cursor_of(frame) > self.seen]
        self.seen = max(self.seen, window.last)
        return frames

    def _snapshot(self, window: Window) -> Frame:
        opened = window.open
        assert opened is not None
        written = {"message": opened.message, "text": opened.text, "thinking": opened.thinking}
        return {"run": self.run, "c": str(opened.cursor), "p": str(self.seen), "snapshot": written}


async def follow(run: str | UUID, conversation: str | UUID, cursor: Cursor = START) -> AsyncGenerator[Frame, None]:
    """The frames of one run after the cursor; ends after its last event. Close it (``aclosing``) when leaving early.

    A frame has ``events`` (numbers and kinds), ``deltas`` (kind, offset, text), or ``snapshot`` (the open message's
    whole text so far, in place of deltas that Redis no longer has).
    """
    follower = Follower(str(run), cursor)
    async with aclosing(_followed(str(conversation), {follower.run: follower}, None)) as frames:
        async for frame in frames:
            yield frame


async def follow_conversation(
    conversation: str | UUID, run: str | UUID | None, cursor: Cursor = START
) -> AsyncGenerator[Frame, None]:
    """The frames of ``run`` after the cursor, and of all later runs of the conversation from their beginning."""
    first = str(run) if run else None
    followers = {first: Follower(first, cursor)} if first else {}
    async with aclosing(_followed(str(conversation), followers, Newcomers(str(conversation), first))) as frames:
        async for frame in frames:
            yield frame


class Newcomers:
    """Finds the runs that began after those that are followed already."""

    def __init__(self, conversation: str, run: str | None) -> None:
        self._conversation = conversation
        self._last = run

    async def find(self, followers: dict[str, Follower]) -> None:
        for run in await rows.runs_after(self._conversation, self._last):
            followers.setdefault(run, Follower(run, START))
            self._last = run


async def _followed(
    conversation: str, followers: dict[str, Follower], newcomers: Newcomers | None
) -> AsyncGenerator[Frame, None]:
    live = hub()
    async with live.subscribed(conversation) as mailbox:
        async for frame in _caught_up(followers, newcomers):
            yield frame
        while newcomers or not all(follower.finished for follower in followers.values()):
            item = await mailbox.get(_patience_s(live))
            passed = [] if isinstance(item, Notice) else _taken(item, followers, newcomers)
            if passed is not None and not isinstance(item, Notice):
                for frame in passed:
                    yield frame
                continue
            async for frame in _caught_up(followers, newcomers):
                yield frame
            if item is Notice.LOOK_AGAIN:
                for frame in _touches(followers):
                    yield frame


def _taken(frame: Frame, followers: dict[str, Follower], newcomers: Newcomers | None) -> list[Frame] | None:
    """What to pass on of a live frame, or None when someone has to catch up for it."""
    follower = followers.get(frame["run"])
    if follower is None:
        if newcomers is None:
            return []
        follower = followers[frame["run"]] = Follower(frame["run"], START)
    return follower.take(frame)


async def _caught_up(followers: dict[str, Follower], newcomers: Newcomers | None) -> AsyncIterator[Frame]:
    """A database that does not answer is asked again later: what is missing still shows as missing then."""
    try:
        if newcomers:
            await newcomers.find(followers)
        for follower in list(followers.values()):
            if not follower.finished:
                async for frame in follower.catch_up():
                    yield frame
    except DatabaseError:
        logger.exception("The rows could not be read.")


def _touches(followers: dict[str, Follower]) -> list[Frame]:
    """Changes that are no events may have been missed: the state of live runs is fetched again."""
    return [
        {"run": follower.run, "cards": [["run", follower.run]]}
        for follower in followers.values()
        if not follower.finished
    ]


def _patience_s(live: Hub) -> float:
    return LOOK_S if live.connected else LOOK_WITHOUT_REDIS_S
