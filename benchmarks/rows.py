"""Single looks at the rows of the product's database, without Django."""

import sqlite3
from contextlib import closing
from typing import Any

import psycopg


class Rows:
    """Each look has a connection of its own, so a database that was killed meanwhile does no harm."""

    def __init__(self, address: str) -> None:
        self._address = address

    def of(self, question: str) -> list[tuple[Any, ...]]:
        """Raises psycopg.OperationalError or sqlite3.OperationalError when the database does not answer."""
        with closing(self._connect()) as connection:
            return list(connection.execute(question).fetchall())

    def _connect(self) -> Any:
        if self._address.startswith("sqlite"):
            return sqlite3.connect(self._address.removeprefix("sqlite:///"), timeout=20)
        return psycopg.connect(self._address, autocommit=True)
