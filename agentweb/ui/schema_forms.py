"""A form made from a tool's JSON Schema: its fields for a template, and what was posted read back as arguments."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from agentweb.registry.problem_words import sentence
from agentweb.schema.form import Field, by_field, form, with_typed
from agentweb.schema.posted import parse
from agentweb.schema.problems import Problem
from agentweb.schema.validate import validate

PREFIX = "argument:"  # so that no argument can take the place of another field of the page


@dataclass(frozen=True, slots=True)
class FormField:
    """One field as the template draws it. ``number`` makes its ids unique within the form."""

    field: Field
    number: int
    errors: tuple[str, ...]

    @property
    def key(self) -> str:
        return str(self.number)

    @property
    def post_name(self) -> str:
        return PREFIX + self.field.name

    @property
    def label(self) -> str:
        return _("Other arguments") if self.field.rest else _(self.field.label)


@dataclass(frozen=True, slots=True)
class SchemaForm:
    """``arguments`` are there only when the form was posted without problems."""

    fields: tuple[FormField, ...]
    errors: tuple[str, ...] = ()
    arguments: dict[str, Any] | None = None


def in_reading_order(schema: Any) -> Any:
    """The schema with its required fields first, in the order in which they are required: stored ones are sorted."""
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    required = schema.get("required") if isinstance(schema, Mapping) else None
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        return schema
    first = {name: properties[name] for name in required if isinstance(name, str) and name in properties}
    return {**schema, "properties": first | dict(properties)}


def show(schema: Any, arguments: Mapping[str, Any], problems: Sequence[Problem] = ()) -> SchemaForm:
    """The form for these arguments, with what is wrong with them at its fields."""
    return _with_problems(form(in_reading_order(schema), arguments), problems)


def read(schema: Any, posted: QueryDict, original: Mapping[str, Any]) -> SchemaForm:
    """What was typed, as arguments or as the same form with its problems. ``original``: as asked for."""
    texts = {name.removeprefix(PREFIX): posted.getlist(name) for name in posted if name.startswith(PREFIX)}
    found = parse(schema, texts, original)
    typed = _with_problems(with_typed(form(in_reading_order(schema), original), texts), found.problems)
    return typed if found.problems else SchemaForm(typed.fields, arguments=found.arguments)


def problems_of(schema: Any, arguments: Any) -> list[Problem]:
    return validate(schema, arguments)


def _with_problems(fields: Sequence[Field], problems: Sequence[Problem]) -> SchemaForm:
    found = by_field(fields, problems)
    shown = tuple(
        FormField(field, number, tuple(_at_field(each) for each in found.get(field.name, ())))
        for number, field in enumerate(fields)
    )
    return SchemaForm(shown, tuple(sentence(each) for each in found.get("", ())))


def _at_field(problem: Problem) -> str:
    """The sentence, led by the place inside the field where there is one."""
    inside = problem.path if len(problem.at) > 1 else ""
    return f"{inside}: {sentence(problem)}" if inside else sentence(problem)
