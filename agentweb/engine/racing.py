"""Waiting that a cancelled run ends at once: for what tasks deliver, and for any single awaitable."""

import asyncio
from collections import deque
from collections.abc import Awaitable, Coroutine
from types import TracebackType
from typing import Any, Generic, TypeVar

from agentweb.engine.ports import Controls

T = TypeVar("T")
GRACE_S = 0.5  # how long something that was told to end may take over it


class Feed(Generic[T]):
    """What its tasks put in, taken out in that order by one reader, who is also woken when the run is cancelled.

    One watching task serves the whole feed, so an item costs no task of its own. Leaving the feed ends its tasks."""

    def __init__(self, controls: Controls) -> None:
        self._controls = controls
        self._items: deque[T] = deque()
        self._ready = asyncio.Event()
        self._tasks: list[asyncio.Future[None]] = []

    async def __aenter__(self) -> "Feed[T]":
        self.start(self._controls.wait_cancelled())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await end(*self._tasks)

    def start(self, work: Coroutine[Any, Any, None]) -> "asyncio.Future[None]":
        """Run something that puts items in. Its error, if it has one, comes out of ``take``."""
        task = asyncio.create_task(work)
        task.add_done_callback(lambda _: self._ready.set())
        self._tasks.append(task)
        return task

    def put(self, item: T) -> None:
        self._items.append(item)
        self._ready.set()

    async def take(self) -> list[T]:
        """All that is there, once there is something; perhaps nothing when a task ended or the run is cancelled."""
        await self._ready.wait()
        self._ready.clear()
        ended = [task for task in self._tasks if task.done() and not task.cancelled()]
        if self._items:
            if ended:
                self._ready.set()  # come back for the errors that they may have ended with
            return self.rest()
        for task in ended:
            task.result()
        return []

    def rest(self) -> list[T]:
        items = list(self._items)
        self._items.clear()
        return items


async def unless_cancelled(controls: Controls, awaitable: Awaitable[T]) -> T | None:
    """The result, or None when the run is cancelled first; the awaitable is ended then."""
    task = asyncio.ensure_future(awaitable)
    watch = asyncio.create_task(controls.wait_cancelled())
    try:
        await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
        return watch.result()
    finally:
        await end(task, watch)


async def end(*tasks: "asyncio.Future[Any]") -> None:
    """Cancel tasks and give them a moment to clean up. One that will not end is left behind."""
    for task in tasks:
        task.cancel()
        task.add_done_callback(_look)
    if tasks:
        await asyncio.wait(tasks, timeout=GRACE_S)


async def close(stream: object) -> None:
    """Close an iterator that has something to close."""
    aclose = getattr(stream, "aclose", None)
    if aclose is not None:
        await aclose()


def _look(task: "asyncio.Future[Any]") -> None:
    """Read the outcome, since asyncio complains about errors that nobody has looked at."""
    if not task.cancelled():
        task.exception()
