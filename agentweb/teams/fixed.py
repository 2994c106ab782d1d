"""Statements whose SQL Django writes once in the life of a process: queries, updates and inserts.

To build and write a statement takes Django several times as long as the database needs for it, which shows where a
message must get to its model within milliseconds. The queries are ordinary ones and give ordinary rows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connections
from django.db.backends.base.base import BaseDatabaseWrapper
from django.db.models import (
    AutoField,
    BigAutoField,
    CharField,
    Expression,
    Field,
    ForeignKey,
    Model,
    PositiveBigIntegerField,
    PositiveIntegerField,
    PositiveSmallIntegerField,
    QuerySet,
    TextField,
)
from django.db.models.query import FlatValuesListIterable, ModelIterable, ValuesListIterable, get_related_populators
from django.db.models.sql import InsertQuery, UpdateQuery
from django.db.models.sql.compiler import SQLCompiler


class Slot(Expression):
    """The place of a value. ``field`` says how the value is written for the database."""

    def __init__(self, name: str, field: Field) -> None:
        super().__init__(output_field=field)
        self.name = name

    def as_sql(self, compiler: SQLCompiler, connection: BaseDatabaseWrapper) -> tuple[str, list["Slot"]]:
        return "%s", [self]


_AS_THEY_ARE: dict[type[Field], type] = {
    CharField: str,
    TextField: str,
    BigAutoField: int,
    ForeignKey: int,
    PositiveIntegerField: int,
    PositiveSmallIntegerField: int,
    PositiveBigIntegerField: int,
}
"""Values of these types are written as they are, in fields of exactly these types. They are most of a row."""


def _prepared(field: Field, value: Any, connection: BaseDatabaseWrapper) -> Any:
    """The value as the database is given it."""
    if value is None or type(value) is _AS_THEY_ARE.get(type(field)):
        return value
    return field.get_db_prep_save(value, connection)


@dataclass(frozen=True, slots=True)
class Written:
    """SQL with its parameters, some of which are slots."""

    sql: str
    params: tuple[Any, ...]

    def filled(self, values: Mapping[str, Any], connection: BaseDatabaseWrapper) -> tuple[Any, ...]:
        return tuple(
            _prepared(param.output_field, values[param.name], connection) if isinstance(param, Slot) else param
            for param in self.params
        )


Row = Sequence[Any]


@dataclass(frozen=True, slots=True)
class Reading:
    """A written query, what turns the database's values into Python's, and a row of these into a result."""

    written: Written
    converters: tuple[tuple[int, Sequence[Callable[..., Any]], Any], ...]
    made: Callable[[Row], Any]

    def result(self, row: Row, connection: BaseDatabaseWrapper) -> Any:
        values = list(row)
        for place, converters, expression in self.converters:
            for convert in converters:
                values[place] = convert(values[place], expression, connection)
        return self.made(values)


class Query:
    """``build`` gets a slot for each of ``fields``, which says what the value is compared with, and returns the query:
    of rows, or of tuples or single values (``values_list``).

    A query that locks rows is first used inside a transaction."""

    def __init__(self, build: Callable[..., QuerySet[Any, Any]], **fields: Field) -> None:
        self._build = build
        self._slots = {name: Slot(name, field) for name, field in fields.items()}
        self._readings: dict[str, Reading] = {}

    def all(self, **values: Any) -> list[Any]:
        connection = connections[DEFAULT_DB_ALIAS]
        reading = self._readings.get(connection.vendor) or self._write(connection)
        with connection.cursor() as cursor:
            cursor.execute(reading.written.sql, reading.written.filled(values, connection))
            rows = cursor.fetchall()
        return [reading.result(row, connection) for row in rows]

    def first(self, **values: Any) -> Any:
        """The first result, or None."""
        return next(iter(self.all(**values)), None)

    def _write(self, connection: BaseDatabaseWrapper) -> Reading:
        queryset = self._build(**self._slots).using(DEFAULT_DB_ALIAS)
        compiler = queryset.query.get_compiler(connection=connection)
        sql, params = compiler.as_sql()
        converters = compiler.get_converters([column[0] for column in compiler.select])
        reading = Reading(
            Written(sql, tuple(params)),
            tuple((place, *converter) for place, converter in converters.items()),
            _maker(queryset, compiler),
        )
        self._readings[connection.vendor] = reading
        return reading


def _maker(queryset: QuerySet[Any, Any], compiler: SQLCompiler) -> Callable[[Row], Any]:
    """What makes a result of a row, as the queryset would itself."""
    if issubclass(queryset._iterable_class, FlatValuesListIterable):
        return itemgetter(0)
    if issubclass(queryset._iterable_class, ValuesListIterable):
        return tuple
    if not issubclass(queryset._iterable_class, ModelIterable):
        raise TypeError(f"A query of {queryset._iterable_class.__name__} is not written once.")
    model, places = compiler.klass_info["model"], compiler.klass_info["select_fields"]
    own, annotated = slice(places[0], places[-1] + 1), tuple(compiler.annotation_col_map.items())
    names = [column.target.attname for column, *_ in compiler.select[own]]
    related = get_related_populators(compiler.klass_info, compiler.select, DEFAULT_DB_ALIAS)  # type: ignore[call-arg]  # the stubs are of a later Django

    def make(row: Row) -> Model:
        made: Model = model.from_db(DEFAULT_DB_ALIAS, names, row[own])
        for each in related:
            each.populate(row, made)
        for name, place in annotated:
            setattr(made, name, row[place])
        return made

    return make


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
    return [_prepared(field, field.pre_save(row, True), connection) for field in fields]


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
