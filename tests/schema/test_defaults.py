"""Completing schemas and values."""

from typing import Any

import pytest
from hypothesis import given

from agentweb.schema.defaults import fill, with_defaults
from agentweb.schema.json_text import same
from agentweb.schema.validate import validate
from tests.schema.values import deep, deep_object, json_objects, json_values

EMPTY = {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    ("schema", "filled"),
    [
        (None, EMPTY),
        ({}, EMPTY),
        ([], EMPTY),
        (True, EMPTY),
        ({"type": "object"}, EMPTY),
        ({"type": "object", "properties": None, "required": None}, EMPTY),
        (
            {"properties": {"a": {"type": "array"}}},
            {"type": "object", "properties": {"a": {"type": "array", "items": {}}}},
        ),
        (
            {"type": "object", "properties": {"a": {"type": "object"}, "b": {"anyOf": [{"type": ["array", "null"]}]}}},
            {
                "type": "object",
                "properties": {
                    "a": {"type": "object", "properties": {}},
                    "b": {"anyOf": [{"type": ["array", "null"], "items": {}}]},
                },
            },
        ),
        (
            {"type": "object", "properties": {"a": {"default": {"type": "array"}, "enum": [{"type": "object"}]}}},
            {"type": "object", "properties": {"a": {"default": {"type": "array"}, "enum": [{"type": "object"}]}}},
        ),
        ({"type": "object", "properties": {"items": {"type": "array", "items": {"type": "string"}}}}, None),
        ({"type": "string"}, {"type": "string"}),
    ],
)
def test_filling(schema, filled):
    assert fill(schema) == (schema if filled is None else filled)


def test_filling_leaves_the_schema_itself_alone():
    schema: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "array"}}}
    fill(schema)
    assert schema == {"type": "object", "properties": {"a": {"type": "array"}}}


@given(json_values)
def test_filling_twice_is_filling_once(value):
    assert fill(fill(value)) == fill(value)


SCHEMA = {
    "type": "object",
    "properties": {
        "limit": {"type": "integer", "default": 10},
        "tags": {"type": "array", "default": ["a"]},
        "page": {"type": "object", "properties": {"size": {"default": 5}}},
        "rows": {"type": "array", "items": {"properties": {"on": {"default": True}}}},
        "shared": {"$ref": "#/$defs/s"},
        "name": {"type": "string"},
    },
    "$defs": {"s": {"properties": {"x": {"default": None}}}},
}


@pytest.mark.parametrize(
    ("value", "filled"),
    [
        ({}, {"limit": 10, "tags": ["a"]}),
        ({"limit": None, "tags": []}, {"limit": None, "tags": []}),
        ({"page": {}}, {"page": {"size": 5}, "limit": 10, "tags": ["a"]}),
        ({"rows": [{}, {"on": False}, 1]}, {"rows": [{"on": True}, {"on": False}, 1], "limit": 10, "tags": ["a"]}),
        ({"shared": {}}, {"shared": {"x": None}, "limit": 10, "tags": ["a"]}),
        ({"page": "odd"}, {"page": "odd", "limit": 10, "tags": ["a"]}),
        ([], []),
        (None, None),
    ],
)
def test_defaults_are_filled_in(value, filled):
    assert with_defaults(SCHEMA, value) == filled


def test_defaults_are_copies():
    first = with_defaults(SCHEMA, {})
    first["tags"].append("b")
    assert with_defaults(SCHEMA, {})["tags"] == ["a"]


def test_the_value_itself_stays_as_it_is():
    value: dict[str, Any] = {"page": {}}
    with_defaults(SCHEMA, value)["page"]["size"] = 6
    assert value == {"page": {}}


@given(json_objects)
def test_a_value_with_its_defaults_needs_no_more(value):
    filled = with_defaults(SCHEMA, value)
    assert with_defaults(SCHEMA, filled) == filled
    assert filled == {**filled, **{name: each for name, each in value.items() if name not in SCHEMA["properties"]}}


@pytest.mark.parametrize("schema", [None, [], True, {"properties": []}, {"properties": {"a": True}}, {"$ref": "#/no"}])
def test_odd_schemas_add_nothing(schema):
    assert with_defaults(schema, {"b": 1}) == {"b": 1}


def test_depth_and_circles_never_end_in_a_recursion_error():
    assert same(with_defaults({"$ref": "#"}, {"a": deep()}), {"a": deep()})
    assert same(with_defaults(deep_object(), deep_object()), deep_object())
    assert fill(deep_object())["type"] == "object"
    assert fill(deep()) == EMPTY
    grows = {"properties": {"a": {"$ref": "#", "default": {}}}}
    assert validate({"type": "object"}, with_defaults(grows, {})) == []
