"""Statements whose SQL Django writes once in the life of a process: queries, updates and inserts.

To build and write a statement takes Django several times as long as the database needs for it, which shows where a
message must get to its model within milliseconds. The queries are ordinary ones and give ordinary rows.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import AutoField, Expression, Field, Model, QuerySet
from django.db.models.sql import InsertQuery, UpdateQuery
from django.db.models.sql.compiler import SQLCompiler


class Slot(Expression):
    """The place of a value. ``field`` says how the value is written for the database."""

    def __init__(self, name: str, field: Field) -> None:
        super().__init__(output_field=field)
        self.name = name

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, list["Slot"]]:
        return "%s", [self]


@dataclass(frozen=True, slots=True)
class Written:
    """SQL with its parameters, some of which are slots."""

    sql: str
    params: tuple[Any, ...]

    def filled(self, values: Mapping[str, Any], connection: BaseDatabaseWrapper) -> tuple[Any, ...]:
        return tuple(
            param.output_field.get_db_prep_save(values[param.name], connection) if isinstance(param, Slot) else param
            for param in self.params
        )


class Query:
    """``build`` gets a slot for each of ``fields``, which says what the value is compared with, and returns the query.

    A query that locks rows is first used inside a transaction."""

    def __init__(self, build: Callable[..., QuerySet[Any, Any]], **fields: Field) -> None:
        self._build = build
        self._slots = {name: Slot(name, field) for name, field in fields.items()}
        self._written: dict[str, tuple[Any, SQLCompiler, Written, Any]] = {}

    def all(self, **values: Any) -> list[Any]:
        connection = connections[DEFAULT_DB_ALIAS]
        queryset, compiler, written, converters = self._written.get(connection.vendor) or self._write(connection)
        ready: Any = copy(compiler)
        params = written.filled(values, connection)
        ready.connection = connection
        ready.as_sql = lambda *_args, **_named: (written.sql, params)
        ready.get_converters = lambda *_args: converters
        found = queryset._clone()
        found._query = copy(queryset._query)
        found._query.get_compiler = lambda *_args, **_named: ready
        return list(found)

    def first(self, **values: Any) -> Any:
        """The first result, or None."""
        return next(iter(self.all(**values)), None)

    def _write(self, connection: BaseDatabaseWrapper) -> tuple[Any, SQLCompiler, Written, Any]:
        queryset = self._build(**self._slots).using(DEFAULT_DB_ALIAS)
        compiler = queryset.query.get_compiler(connection=connection)
        sql, params = compiler.as_sql()
        converters = compiler.get_converters([column[0] for column in compiler.select])
        self._written[connection.vendor] = (queryset, compiler, Written(sql, tuple(params)), converters)
        return self._written[connection.vendor]


class Update:
    """Changes the rows that a query finds; ``build`` and ``fields`` as for a `Query`."""

    def __init__(self, build: Callable[..., QuerySet[Any, Any]], **fields: Field) -> None:
        self._build = build
        self._slots = {name: Slot(name, field) for name, field in fields.items()}
        self._written: dict[tuple[str, ...], Written] = {}

    def __call__(self, changes: Mapping[str, Any], **values: Any) -> int:
        """How many rows were changed. ``changes`` are values of the model's own columns."""
        connection = connections[DEFAULT_DB_ALIAS]
        key = (connection.vendor, *changes)
        written = self._written.get(key) or self._write(key, connection)
        new = {f"new {name}": value for name, value in changes.items()}
        with connection.cursor() as cursor:
            cursor.execute(written.sql, written.filled({**values, **new}, connection))
            return int(cursor.rowcount)

    def _write(self, key: tuple[str, ...], connection: BaseDatabaseWrapper) -> Written:
        queryset = self._build(**self._slots)
        query = queryset.query.chain(UpdateQuery)
        query.add_update_values({name: Slot(f"new {name}", queryset.model._meta.get_field(name)) for name in key[1:]})
        sql, params = query.get_compiler(connection=connection).as_sql()
        self._written[key] = Written(sql, tuple(params))
        return self._written[key]


_inserts: dict[tuple[str, type[Model], bool], tuple[str, list[Field]]] = {}


def insert(row: Model) -> None:
    """What ``row.save(force_insert=True)`` does, without signals, for a model whose key the database makes."""
    connection = connections[DEFAULT_DB_ALIAS]
    sql, fields = _insert_into(type(row), connection, returning=True)
    with connection.cursor() as cursor:
        cursor.execute(sql, _params(row, fields, connection))
        (row.pk,) = cursor.fetchone()
    row._state.adding, row._state.db = False, DEFAULT_DB_ALIAS


def insert_all(rows: Sequence[Model]) -> None:
    """The same for rows of one model, whose keys stay unknown."""
    if not rows:
        return
    connection = connections[DEFAULT_DB_ALIAS]
    sql, fields = _insert_into(type(rows[0]), connection, returning=False)
    with connection.cursor() as cursor:
        cursor.executemany(sql, [_params(row, fields, connection) for row in rows])


def _params(row: Model, fields: list[Field], connection: BaseDatabaseWrapper) -> list[Any]:
    return [field.get_db_prep_save(field.pre_save(row, True), connection) for field in fields]


def _insert_into(model: type[Model], connection: BaseDatabaseWrapper, *, returning: bool) -> tuple[str, list[Field]]:
    key = (connection.vendor, model, returning)
    if key not in _inserts:
        fields = [field for field in model._meta.local_concrete_fields if not isinstance(field, AutoField)]
        query = InsertQuery(model)
        query.insert_values(fields, [model()])
        compiler = query.get_compiler(connection=connection)
        compiler.returning_fields = [model._meta.pk] if returning else None
        ((sql, _values),) = compiler.as_sql()
        _inserts[key] = sql, fields
    return _inserts[key]
