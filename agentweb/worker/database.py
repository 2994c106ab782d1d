"""Database work of the event loop: plain functions in a few threads, each with a connection that is known to live."""

import asyncio
import contextvars
import logging
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from django.db import close_old_connections, connections

logger = logging.getLogger(__name__)

T = TypeVar("T")
THREADS = 4
CLOSED_WITHIN_S = 5.0
KEPT_S = 60  # threads of the pool live on, so their connections may; those of web requests end with the request


class DatabaseThreads:
    """Each call is its own unit of work: it opens its transactions and leaves none behind."""

    def __init__(self) -> None:
        for alias in connections:
            connections.settings[alias]["CONN_MAX_AGE"] = KEPT_S
        self._pool = ThreadPoolExecutor(max_workers=THREADS, thread_name_prefix="database")

    async def run(self, work: Callable[[], T]) -> T:
        context = contextvars.copy_context()  # so that a line of the log says which run it is about
        return await asyncio.get_running_loop().run_in_executor(self._pool, context.run, _fresh, work)

    def close(self) -> None:
        """Close every thread's connections, then the threads. Calls that run are waited for."""
        together = threading.Barrier(THREADS)
        for _ in range(THREADS):
            self._pool.submit(_close_connections, together)
        self._pool.shutdown(wait=True)


def _fresh(work: Callable[[], T]) -> T:
    close_old_connections()
    return work()


def _close_connections(together: threading.Barrier) -> None:
    try:
        together.wait(CLOSED_WITHIN_S)  # so that each thread gets exactly one of these
    except threading.BrokenBarrierError:
        logger.warning("A database call takes long; its connection ends with the process.")
    connections.close_all()
