"""Django's SQLite, but the threads of one process write in turn.

SQLite has one writer at a time. Who finds it busy sleeps, longer each time, and sleeps on while it is free: fifty
messages in one second waited more than they worked. Threads that wait for each other are woken at once, so SQLite is
only busy where another process writes.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from django.db.backends.sqlite3 import base

PATIENCE_S = 5.0  # then SQLite itself decides, as it does between processes

_turn = threading.Lock()


class DatabaseWrapper(base.DatabaseWrapper):
    """Holds the turn from the begin of a transaction to its end."""

    _has_turn = False
    _only_reads = False

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Transactions that begin inside only read: they wait for nobody, and see the rows as their first statement
        sees them."""
        self._only_reads = True
        try:
            yield
        finally:
            self._only_reads = False

    def _start_transaction_under_autocommit(self) -> None:
        if self._only_reads:
            self.cursor().execute("BEGIN DEFERRED")
            return
        self._has_turn = _turn.acquire(timeout=PATIENCE_S)
        try:
            super()._start_transaction_under_autocommit()
        except BaseException:
            self._end_turn()
            raise

    def _commit(self) -> None:
        try:
            super()._commit()
        finally:
            self._end_turn()

    def _rollback(self) -> None:
        try:
            super()._rollback()
        finally:
            self._end_turn()

    def _close(self) -> None:
        try:
            super()._close()
        finally:
            self._end_turn()

    def _end_turn(self) -> None:
        if self._has_turn:
            self._has_turn = False
            _turn.release()
