"""The threads of one process write to SQLite in turn, and whoever has the turn gives it back."""

import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from django.db import OperationalError, connections

from agentweb.config.sqlite import base

Connect = Callable[[], base.DatabaseWrapper]


@pytest.fixture
def connect(tmp_path: Path, django_db_blocker) -> Iterator[Connect]:
    """Connections to a file of their own, on which SQLite itself has no patience at all."""
    defaults = {name: value for name, value in connections["default"].settings_dict.items() if name != "OPTIONS"}
    options = {"transaction_mode": "IMMEDIATE", "timeout": 0, "init_command": "PRAGMA journal_mode=WAL"}
    settings = {**defaults, "NAME": str(tmp_path / "own.sqlite3"), "OPTIONS": options}
    with django_db_blocker.unblock():
        yield lambda: base.DatabaseWrapper(settings, "own")


def begin(connection: base.DatabaseWrapper) -> None:
    connection.set_autocommit(False, force_begin_transaction_with_broken_autocommit=True)


def execute(connection: base.DatabaseWrapper, sql: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql)


def test_threads_that_write_at_once_never_find_the_file_busy(connect):
    first = connect()
    execute(first, "CREATE TABLE counted (amount INTEGER)")
    execute(first, "INSERT INTO counted VALUES (0)")
    failed: list[BaseException] = []

    def count() -> None:
        try:
            connection = connect()
            for _ in range(20):
                begin(connection)
                execute(connection, "UPDATE counted SET amount = amount + 1")
                connection.commit()
                connection.set_autocommit(True)
            connection.close()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert not failed
    with first.cursor() as cursor:
        assert cursor.execute("SELECT amount FROM counted").fetchone() == (80,)
    first.close()


@pytest.mark.parametrize("end", ["commit", "rollback", "close"])
def test_the_turn_ends_with_the_transaction(connect, end):
    connection = connect()

    for _ in range(2):
        begin(connection)
        assert base._turn.locked()
        getattr(connection, end)()
        assert not base._turn.locked()
        connection.set_autocommit(True)
    connection.close()


def test_a_transaction_that_cannot_begin_leaves_the_turn(connect, tmp_path):
    stranger, connection = connect(), connect()
    execute(stranger, "CREATE TABLE counted (amount INTEGER)")
    execute(stranger, "BEGIN IMMEDIATE")  # as another process does: without the turn

    with pytest.raises(OperationalError):
        begin(connection)

    assert not base._turn.locked()
    execute(stranger, "ROLLBACK")
    with suppress(OperationalError):
        connection.close()
    stranger.close()
