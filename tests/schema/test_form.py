"""Forms for the arguments of a tool."""

from typing import Any

import pytest

from agentweb.schema.form import Choice, Field, Kind, by_field, form, with_typed
from agentweb.schema.posted import parse
from agentweb.schema.problems import problem
from tests.schema.values import deep, deep_object


def one(schema: Any, *value: Any, name: str = "it") -> Field:
    """The field for one property, absent or with a value."""
    (field,) = form({"type": "object", "properties": {name: schema}}, {name: value[0]} if value else {})
    return field


@pytest.mark.parametrize(
    ("schema", "value", "kind", "shown"),
    [
        ({"type": "string"}, "x", Kind.TEXT, "x"),
        ({"type": "string"}, "", Kind.TEXT, ""),
        ({"type": "string"}, None, Kind.TEXT, ""),
        ({"type": "string"}, " two\nlines ", Kind.TEXTAREA, " two\nlines "),
        ({"type": "string"}, "x" * 81, Kind.TEXTAREA, "x" * 81),
        ({"type": "string", "maxLength": 1_000}, "x", Kind.TEXTAREA, "x"),
        ({"type": "string"}, 5, Kind.JSON, "5"),
        ({"type": "integer"}, 30, Kind.INTEGER, "30"),
        ({"type": "integer"}, 30.0, Kind.INTEGER, "30"),
        ({"type": "integer"}, "30", Kind.JSON, '"30"'),
        ({"type": "integer"}, True, Kind.JSON, "true"),
        ({"type": "number"}, 0.5, Kind.NUMBER, "0.5"),
        ({"type": "number"}, float("nan"), Kind.JSON, ""),
        ({"type": "integer"}, float("inf"), Kind.JSON, ""),
        ({"type": "boolean"}, True, Kind.BOOLEAN, "true"),
        ({"type": "boolean"}, False, Kind.BOOLEAN, "false"),
        ({"type": "boolean"}, None, Kind.CHOICE, ""),
        ({"enum": ["red", "green"]}, "green", Kind.CHOICE, "green"),
        ({"enum": ["red", "green"]}, "blue", Kind.CHOICE, "blue"),
        ({"enum": ["red", 1, None]}, None, Kind.CHOICE, "null"),
        ({"enum": ["red", 1, None]}, "red", Kind.CHOICE, '"red"'),
        ({"const": "x"}, "x", Kind.CHOICE, "x"),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, ["b", "a"], Kind.MULTICHOICE, ("b", "a")),
        ({"type": "array", "items": {"enum": ["a", "b"]}}, ["a", "a"], Kind.JSON, '[\n  "a",\n  "a"\n]'),
        ({"type": "array", "items": {"type": "string"}}, ["a", " b"], Kind.LINES, "a\n b"),
        ({"type": "array", "items": {"type": "string"}}, [], Kind.LINES, ""),
        ({"type": "array", "items": {"type": "string"}}, ["a", ""], Kind.JSON, '[\n  "a",\n  ""\n]'),
        ({"type": "array", "items": {"type": "string"}}, ["a\nb"], Kind.JSON, '[\n  "a\\nb"\n]'),
        ({"type": "array"}, [1], Kind.JSON, "[\n  1\n]"),
        ({"type": "object"}, {"k": "é"}, Kind.JSON, '{\n  "k": "é"\n}'),
        ({"oneOf": [{"type": "string"}, {"type": "integer"}]}, 1, Kind.JSON, "1"),
        ({"anyOf": [{"type": "string"}, {"type": "null"}]}, "x", Kind.TEXT, "x"),
        ({"$ref": "#/$defs/a"}, "x", Kind.JSON, '"x"'),
        ({}, "x", Kind.JSON, '"x"'),
        (True, 1, Kind.JSON, "1"),
    ],
)
def test_a_value_is_shown_in_the_simplest_box_that_can_hold_it(schema, value, kind, shown):
    field = one(schema, value)
    assert (field.kind, field.value) == (kind, shown)
    assert field.present


@pytest.mark.parametrize("name", ["content", "body", "code", "text", "Content"])
def test_names_of_long_texts_get_a_large_box(name):
    assert one({"type": "string"}, "x", name=name).kind is Kind.TEXTAREA


def test_an_absent_boolean_offers_not_to_be_given():
    field = one({"type": "boolean", "default": True})
    assert field.kind is Kind.CHOICE
    assert [choice.value for choice in field.choices] == ["", "true", "false"]
    assert field.default == "true"


def test_choices_carry_their_json_value():
    assert one({"enum": [1, "1", None]}).choices == (
        Choice("", ""),
        Choice("1", "1", 1),
        Choice('"1"', "1", "1"),
        Choice("null", "null", None),
    )


def test_a_field_says_what_its_schema_says():
    schema = {
        "type": "object",
        "required": ["max_rows"],
        "properties": {
            "max_rows": {"type": "integer", "minimum": 1, "maximum": 9, "description": "How many", "default": 5},
            "who": {"type": ["string", "null"], "title": "To whom", "format": "email", "minLength": 3, "maxLength": 90},
            "id": {"type": "string", "readOnly": True},
        },
    }
    rows, who, fixed = form(schema, {"id": "7"})
    assert (rows.label, rows.required, rows.minimum, rows.maximum) == ("Max rows", True, 1, 9)
    assert (rows.help, rows.default, rows.present) == ("How many", "5", False)
    assert (who.label, who.format, who.min_length, who.max_length, who.nullable) == ("To whom", "email", 3, 90, True)
    assert (fixed.read_only, fixed.value) == (True, "7")


@pytest.mark.parametrize("value", [deep(), deep_object(), [10**5000], {"a": float("nan")}])
def test_a_value_that_cannot_be_written_is_shown_read_only_and_kept(value):
    schema = {"properties": {"a": {}}}
    (field,) = form(schema, {"a": value})
    assert (field.kind, field.value, field.read_only) == (Kind.JSON, "", True)
    parsed = parse(schema, {"a": ["5"]}, {"a": value})
    assert parsed.arguments["a"] is value
    assert len(parsed.problems) == 1


@pytest.mark.parametrize(
    "schema", [None, [], True, {"properties": 3}, {"type": "object"}, {"properties": {"a\nb": {}}}]
)
def test_what_the_schema_does_not_describe_is_in_the_last_field(schema):
    (field,) = form(schema, {"a": 1})
    assert (field.kind, field.name, field.rest, field.value) == (Kind.JSON, "*", True, '{\n  "a": 1\n}')


@pytest.mark.parametrize(
    ("schema", "offered"),
    [
        ({"properties": {}}, False),
        ({"properties": {}, "additionalProperties": False}, False),
        ({"properties": {}, "additionalProperties": True}, True),
        ({"properties": {}, "additionalProperties": {"type": "string"}}, True),
        ({"allOf": [{"properties": {"a": {}}}]}, True),
    ],
)
def test_adding_more_is_offered_where_the_schema_speaks_of_it(schema, offered):
    assert [field.rest for field in form(schema, {})] == [True] * offered


def test_the_last_field_never_has_the_name_of_another():
    names = [field.name for field in form({"properties": {"*": {}, "**": {}}}, {"x": 1})]
    assert names == ["*", "**", "***"]


def test_what_was_typed_is_shown_again():
    schema = {
        "properties": {
            "n": {"type": "integer"},
            "on": {"type": "boolean"},
            "kinds": {"type": "array", "items": {"enum": ["a", "b"]}},
            "left": {"type": "string"},
            "fixed": {"type": "string", "readOnly": True},
        }
    }
    fields = form(schema, {"n": 1, "on": True, "kinds": ["a"], "left": "x", "fixed": "y"})
    typed = with_typed(fields, {"n": ["many"], "kinds": ["b", "c"], "fixed": ["z"]})
    assert [field.value for field in typed] == ["many", "false", ("b", "c"), "x", "y"]
    assert with_typed(fields, {"on": ["on"]})[1].value == "true"


def test_problems_find_their_field():
    fields = form({"properties": {"a.b": {}, "tags": {}}}, {"more": 1})
    problems = [
        problem("effort"),
        problem("minLength", ("tags", 1), limit=1, actual=0),
        problem("required", ("a.b", "c"), name="c"),
        problem("additionalProperties", ("more",), name="more"),
    ]
    placed = by_field(fields, problems)
    assert {name: [each.path for each in found] for name, found in placed.items()} == {
        "": [""],
        "tags": ["tags[1]"],
        "a.b": ['["a.b"].c'],
        "*": ["more"],
    }
