"""What MCP servers say of their tools, and what is made of it."""

import pytest

from agentweb.engine.enums import Risk
from agentweb.schema.check import check_schema
from agentweb.toolbox.mcp.reading import offer, offers, raw_of

TREE = {"type": "object", "properties": {"children": {"type": "array", "items": {"$ref": "#"}}}}


@pytest.mark.parametrize(
    "schema",
    [
        None,
        {},
        {"type": "object"},
        {"type": "object", "properties": None, "required": None},
        {"type": "object", "properties": {"all": {"type": "array"}}},
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "additionalProperties": False},
        TREE,
    ],
)
def test_what_providers_would_refuse_is_filled_up(schema):
    definition = offer("Fake", raw_of({"name": "a", "inputSchema": schema})).definition
    assert definition and check_schema(dict(definition.parameters)) == []
    assert definition.parameters["type"] == "object" and "properties" in definition.parameters
    assert "items" in definition.parameters["properties"].get("all", {"items": {}})


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        ({"name": ""}, "no name"),
        ({"name": "x" * 501}, "longer than 500"),
        ({"name": "a", "inputSchema": {"type": "string"}}, "Its arguments cannot be used"),
        ({"name": "a", "inputSchema": {"type": "object", "properties": {"b": {"$ref": "#/$defs/none"}}}}, "properties"),
        (
            {"name": "a", "inputSchema": {"type": "object", "properties": {"b": {"$ref": "http://x.test/y"}}}},
            "properties",
        ),
        ({"name": "a", "inputSchema": {"type": "object", "allOf": [{"$ref": "#"}]}}, "Its arguments cannot be used"),
        ({"name": "a", "inputSchema": {"type": "object", "description": "x" * 200_000}}, "too large: at most 100000"),
    ],
)
def test_what_cannot_be_used_is_refused_with_the_reason(tool, why):
    found = offer("Fake", raw_of(tool))
    assert found.definition is None and why in found.why_not


@pytest.mark.parametrize(
    ("hints", "risk", "reads"),
    [
        (None, Risk.HIGH, False),
        ({}, Risk.HIGH, False),
        ({"destructiveHint": False, "idempotentHint": True}, Risk.HIGH, False),
        ({"readOnlyHint": True, "openWorldHint": False}, Risk.MEDIUM, True),
        ({"readOnlyHint": "yes"}, Risk.HIGH, False),
        ("read only", Risk.HIGH, False),
    ],
)
def test_a_hint_makes_nothing_low(hints, risk, reads):
    found = offer("Fake", raw_of({"name": "a", "annotations": hints}))
    assert (found.risk, found.definition.reads) == (risk, reads)


def test_the_label_names_the_server_and_hidden_orders_in_a_description_are_made_visible():
    (found,) = offers("Office", [{"name": "a.b", "title": "Read", "description": "Adds.\U000e0041\u202e"}])
    assert found.definition.label == "Office: Read"
    assert "<U+E0041>" in found.definition.description and "<U+202E>" in found.definition.description
    assert found.definition.raw["description"] == "Adds.\U000e0041\u202e"


def test_only_what_is_known_of_a_tool_is_compared():
    assert raw_of({"name": "a", "_meta": {"now": 1}, "icons": [], "title": None}) == {"name": "a"}
