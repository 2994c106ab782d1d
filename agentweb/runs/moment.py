"""One moment of the database, for answers that are made of several statements.

A run goes on while its page is read. Each statement alone sees the rows of one moment, but two of them may see two: a
call that has not asked yet beside the approval that it asked for. What is read here is read as of one moment.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import ParamSpec, TypeVar

from django.db import connection, transaction

P = ParamSpec("P")
R = TypeVar("R")
ONE_SNAPSHOT = "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY"


@contextmanager
def one_moment() -> Iterator[None]:
    """Let every statement inside see the rows as they are at the first. For reading only; it waits for no writer.

    Inside a transaction that has begun already it changes nothing.
    """
    if connection.in_atomic_block:
        yield
    elif connection.vendor == "sqlite":
        with connection.reading(), transaction.atomic():
            yield
    else:
        with transaction.atomic():
            with connection.cursor() as cursor:
                cursor.execute(ONE_SNAPSHOT)
            yield


def as_of_one_moment(read: Callable[P, R]) -> Callable[P, R]:
    """Make ``read`` see the rows of one moment."""

    @wraps(read)
    def reading(*args: P.args, **kwargs: P.kwargs) -> R:
        with one_moment():
            return read(*args, **kwargs)

    return reading
