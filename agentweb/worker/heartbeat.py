"""Says that this worker lives, from a thread of its own: a busy loop does not stop it, a dead loop does."""

import asyncio
import logging
import threading
import time

from django import db
from django.conf import settings
from django.db import close_old_connections, connection
from django.db.models.functions import Now

from agentweb.runs.models import WorkerProcess

logger = logging.getLogger(__name__)


class Heartbeat:
    """Beats each BEAT_SECONDS, unless the loop has not come round for as long as a lease lasts."""

    def __init__(self, worker: WorkerProcess, loop: asyncio.AbstractEventLoop) -> None:
        self._worker = worker
        self._loop = loop
        self._ended = threading.Event()
        self._loop_seen = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(settings.BEAT_SECONDS):
            self._loop.call_soon_threadsafe(self._see_loop)
            silent_s = time.monotonic() - self._loop_seen
            if silent_s > settings.LEASE_SECONDS + settings.BEAT_SECONDS:
                logger.error("The worker's loop has been stuck for %.0f s; others may take its runs.", silent_s)
            else:
                self.beat()
        connection.close()

    def _see_loop(self) -> None:
        self._loop_seen = time.monotonic()

    def beat(self) -> None:
        """Never raises for a database that is away: the lease has room for a few beats that are missed."""
        try:
            close_old_connections()
            if not WorkerProcess.objects.filter(pk=self._worker.pk).update(beat_at=Now()):
                logger.warning("This worker's row was gone; it is written again.")
                WorkerProcess.objects.create(
                    pk=self._worker.pk,
                    public_id=self._worker.public_id,
                    name=self._worker.name,
                    started_at=Now(),
                    beat_at=Now(),
                )
        except db.Error as error:  # also that of a connection which is closed, no DatabaseError
            logger.warning("The database did not take a heartbeat: %s", error)
            connection.close()
