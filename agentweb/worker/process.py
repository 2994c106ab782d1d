"""One worker process: an event loop in a thread of its own, which the threads of Celery hand runs to."""

import asyncio
import contextlib
import logging
import os
import socket
import sys
import threading
import uuid
from collections.abc import Callable, Coroutine
from typing import Any

from django.conf import settings
from django.db import connection
from django.db.models.functions import Now

from agentweb.llm.clients import close_clients
from agentweb.registry.ports import warm_up
from agentweb.runs.live.connections import close_connections
from agentweb.runs.models import WorkerProcess
from agentweb.toolbox.keeping import close_kept
from agentweb.worker.controls import ControlDesk
from agentweb.worker.database import DatabaseThreads
from agentweb.worker.driver import Shop, drive
from agentweb.worker.flusher import Flusher
from agentweb.worker.heartbeat import Heartbeat
from agentweb.worker.sweeper import sweep_forever

logger = logging.getLogger(__name__)

Service = Callable[[], Coroutine[Any, Any, None]]
AGAIN_S = 1.0
SWITCH_S = 0.001  # threads that work for the database hand over to the event loop sooner than Python's 5 ms


class Process:
    """Started once. ``advance`` is what a Celery task calls: it takes a slot for as long as the run works here."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run_loop, name="runs", daemon=True)
        self._database = DatabaseThreads()
        self._drives: set[asyncio.Task[Any]] = set()
        self._services: list[asyncio.Task[Any]] = []
        self._draining = False
        self._worker = self._register()
        self._heartbeat = Heartbeat(self._worker, self._loop)

    def start(self) -> None:
        sys.setswitchinterval(SWITCH_S)
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._begin(), self._loop).result()
        self._heartbeat.start()
        logger.info("The worker %s is ready.", self._worker.name)

    def advance(self, run: str) -> None:
        """Move the run forward; returns when it pauses, ends, or is given back."""
        with contextlib.suppress(asyncio.CancelledError):
            asyncio.run_coroutine_threadsafe(self._drive(run), self._loop).result()

    def drain(self) -> None:
        """Take no more runs, and stop those that work at their next boundary. Returns at once."""
        self._draining = True
        self._loop.call_soon_threadsafe(self._end_drives_in_time)

    def stop(self) -> None:
        """End everything; runs that still work here are given back."""
        self._draining = True
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._heartbeat.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()
        self._database.close()
        WorkerProcess.objects.filter(pk=self._worker.pk).delete()
        connection.close()

    @staticmethod
    def _register() -> WorkerProcess:
        worker = WorkerProcess.objects.create(
            public_id=uuid.uuid4(), name=f"{socket.gethostname()}:{os.getpid()}", started_at=Now(), beat_at=Now()
        )
        connection.close()
        return worker

    def _run_loop(self) -> None:
        asyncio.set_event_loop(self._loop)
        self._loop.run_forever()

    async def _begin(self) -> None:
        flusher = Flusher(settings.FLUSH_SECONDS, self._loop.time)
        desk = ControlDesk(self._database)
        self._shop = Shop(
            worker=self._worker,
            database=self._database,
            flusher=flusher,
            desk=desk,
            draining=lambda: self._draining,
            patience_s=settings.LEASE_SECONDS,
        )
        self._serve(flusher.run)
        self._serve(lambda: self._database.run(warm_up))
        self._serve(desk.poll)
        self._serve(desk.listen)
        self._serve(lambda: sweep_forever(self._worker, self._database, desk.held))

    def _serve(self, service: Service) -> None:
        self._services.append(self._loop.create_task(_kept_up(service)))

    async def _drive(self, run: str) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._drives.add(task)
        try:
            await drive(run, self._shop)
        finally:
            self._drives.discard(task)

    def _end_drives_in_time(self) -> None:
        self._loop.call_later(settings.DRAIN_SECONDS, self._cancel_drives)

    def _cancel_drives(self) -> None:
        for task in self._drives:
            task.cancel()

    async def _end(self) -> None:
        self._cancel_drives()
        if self._drives:
            await asyncio.wait(set(self._drives), timeout=settings.DRAIN_SECONDS)
        for task in self._services:
            task.cancel()
        await asyncio.gather(*self._services, return_exceptions=True)
        await close_connections()
        await close_clients()
        await close_kept()
        await self._loop.shutdown_asyncgens()


async def _kept_up(service: Service) -> None:
    """A service that fails begins again: without it the process would only pretend to work."""
    while True:
        try:
            return await service()
        except Exception:
            logger.exception("A service of this worker failed; it begins again.")
            await asyncio.sleep(AGAIN_S)


_lock = threading.Lock()
_current: Process | None = None


def current() -> Process:
    """The process's own, started when first asked for."""
    global _current
    with _lock:
        if _current is None:
            process = Process()
            process.start()
            _current = process
        return _current


def started() -> Process | None:
    return _current
