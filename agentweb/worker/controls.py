"""What people ask of the runs that this process works on: a message says look now, and the rows say what."""

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime

from django import db
from django.conf import settings
from redis.exceptions import RedisError

from agentweb.engine.enums import StopAfter
from agentweb.runs import halts
from agentweb.runs.live import keys
from agentweb.runs.live.connections import listening_connection
from agentweb.runs.models import Run
from agentweb.worker.database import DatabaseThreads

logger = logging.getLogger(__name__)

POLL_S = 0.5
RECONNECT_S = 1.0
READ_S = 10.0


class RunControls:
    """The engine's Controls for one run, kept up to date by the desk."""

    def __init__(self, epoch: int, task: "asyncio.Task[object] | None") -> None:
        self.epoch = epoch
        self.stop_after: StopAfter | None = None
        self.halted: int | None = None
        self._task = task
        self._cancelled = asyncio.Event()

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    async def wait_cancelled(self) -> None:
        await self._cancelled.wait()

    def update(self, *, cancelled: bool, stop_after: str) -> None:
        self.stop_after = StopAfter(stop_after) if stop_after else None
        if cancelled:
            self._cancelled.set()

    def halt(self, halt: int) -> None:
        """An emergency stop, with this row id, has hit the run: whatever is under way here ends, and it is held."""
        if self.halted is None:
            self.halted = halt
            self.lost()

    def lost(self) -> None:
        """Another worker has the run: whatever is under way here ends now."""
        if self._task is not None:
            self._task.cancel()


class ControlDesk:
    """Watches all runs of this process with one query, each half second and whenever a message comes."""

    def __init__(self, database: DatabaseThreads) -> None:
        self._database = database
        self._runs: dict[int, RunControls] = {}
        self._names: dict[str, int] = {}
        self._look = asyncio.Event()

    @contextmanager
    def watching(self, run_id: int, run: str, epoch: int) -> Iterator[RunControls]:
        controls = RunControls(epoch, asyncio.current_task())
        self._runs[run_id], self._names[run] = controls, run_id
        try:
            yield controls
        finally:
            if self._runs.get(run_id) is controls:
                del self._runs[run_id], self._names[run]

    def held(self) -> frozenset[tuple[int, int]]:
        """Row ids and epochs of the runs that are worked on."""
        return frozenset((run_id, controls.epoch) for run_id, controls in self._runs.items())

    async def poll(self) -> None:
        """Until cancelled."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._look.wait(), POLL_S)
            self._look.clear()
            if self._runs:
                try:
                    await self._read()
                except db.Error:
                    logger.exception("The wishes of people could not be read.")

    async def listen(self) -> None:
        """Until cancelled. Without Redis, polling alone is fast enough."""
        while settings.REDIS_URL:
            with suppress(RedisError, OSError):
                async with listening_connection() as redis, redis.pubsub() as pubsub:
                    await pubsub.subscribe(keys.CONTROL)
                    while True:
                        message = await pubsub.get_message(timeout=READ_S)
                        if message and message["type"] == "message" and message["data"] in self._names:
                            self._look.set()
            await asyncio.sleep(RECONNECT_S)

    async def _read(self) -> None:
        ids = list(self._runs)
        rows, hit = await self._database.run(lambda: _wishes(ids))
        for run_id, epoch, cancel_requested_at, stop_after in rows:
            controls = self._runs.get(run_id)
            if controls is None or controls.epoch > epoch:
                continue
            if controls.epoch < epoch:
                controls.lost()
            else:
                controls.update(cancelled=cancel_requested_at is not None, stop_after=stop_after)
                if run_id in hit:
                    controls.halt(hit[run_id])


def _wishes(ids: list[int]) -> tuple[list[tuple[int, int, datetime | None, str]], dict[int, int]]:
    """What people asked of these runs, and those that an emergency stop has hit, each with its row id."""
    runs = Run.objects.filter(pk__in=ids).values_list("pk", "epoch", "cancel_requested_at", "stop_after")
    return list(runs), halts.hitting(ids)
