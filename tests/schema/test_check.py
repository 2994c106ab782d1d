"""Which schemas are accepted."""

import time

import pytest

from agentweb.schema.check import check_any, check_schema
from agentweb.schema.defaults import fill
from agentweb.schema.patterns import PatternError, compiled
from agentweb.schema.validate import validate
from tests.schema.values import deep, deep_object


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object"},
        {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
        {"$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "definitions": {"a": {}}},
        {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "https://example.org/a", "type": "object"},
        {"type": "object", "properties": {"$ref": {"type": "string"}, "$schema": {"type": "string"}}},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/a~1b"}}, "$defs": {"a/b": {"type": "string"}}},
        {"type": "object", "properties": {"next": {"$ref": "#"}}},
        {"type": "object", "properties": {"a": {"$ref": "#here"}, "b": {"$anchor": "here"}}},
        {"type": "object", "properties": {"a": {"const": {"$ref": "https://example.org"}}}},
        {"type": "object", "properties": {"a": {"enum": [{"pattern": "(a+)+"}]}}},
        {"type": "object", "x-vendor": {"any": "thing"}},
    ],
)
def test_accepted(schema):
    assert check_schema(schema) == []


@pytest.mark.parametrize(
    ("schema", "path", "keyword"),
    [
        (None, "", "schema.object"),
        ([], "", "schema.object"),
        (True, "", "schema.object"),
        ({}, "", "schema.top"),
        ({"type": "array"}, "type", "schema.top"),
        ({"type": ["object", "null"]}, "type", "schema.top"),
        ({"type": "object", "$schema": "https://example.org/own"}, "$schema", "schema.draft"),
        ({"type": "object", "$schema": 5}, "$schema", "schema.draft"),
        ({"type": "object", "properties": []}, "properties", "schema.invalid"),
        ({"type": "object", "properties": {"a": {"type": "str"}}}, "properties.a.type", "schema.invalid"),
        ({"type": "object", "properties": {"a": {"minLength": -1}}}, "properties.a.minLength", "schema.invalid"),
        ({"type": "object", "required": "a"}, "required", "schema.invalid"),
        (
            {"type": "object", "properties": {"a": {"$schema": "http://json-schema.org/draft-07/schema#"}}},
            "properties.a.$schema",
            "schema.nested_draft",
        ),
        (
            {"type": "object", "properties": {"a": {"$ref": "https://example.org/s"}}},
            "properties.a.$ref",
            "schema.ref_remote",
        ),
        ({"type": "object", "properties": {"a": {"$ref": "file:///etc/x"}}}, "properties.a.$ref", "schema.ref_remote"),
        ({"type": "object", "properties": {"a": {"$ref": "#/$defs/no"}}}, "properties.a.$ref", "schema.ref_missing"),
        ({"type": "object", "properties": {"a": {"$ref": "#no"}}}, "properties.a.$ref", "schema.ref_missing"),
        ({"type": "object", "x": {}, "properties": {"a": {"$ref": "#/x"}}}, "properties.a.$ref", "schema.ref_missing"),
        ({"type": "object", "$ref": "#"}, "", "schema.ref_endless"),
        ({"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}}, "properties.a", "schema.ref_endless"),
        (
            {"type": "object", "properties": {"a": {"$dynamicRef": "#a"}}},
            "properties.a.$dynamicRef",
            "schema.ref_dynamic",
        ),
        ({"type": "object", "properties": {"a": {"pattern": "["}}}, "properties.a.pattern", "pattern.syntax"),
        ({"type": "object", "properties": {"a": {"pattern": "(a+)+$"}}}, "properties.a.pattern", "pattern.slow"),
        (
            {"type": "object", "patternProperties": {".*.*x": {}}},
            'patternProperties[".*.*x"]',
            "pattern.slow",
        ),
        ({"type": "object", "description": "x" * 100_000}, "", "schema.chars"),
        ({"type": "object", "x": deep()}, "", "json.depth"),
        (deep_object(), "", "json.depth"),
        ({"type": "object", "default": float("inf")}, "", "json.constant"),
    ],
)
def test_refused_with_the_place_named(schema, path, keyword):
    problems = check_schema(schema)
    assert [(each.path, each.keyword) for each in problems] == [(path, keyword)]
    assert problems[0].message.endswith(".")


def test_a_circle_of_several_references_is_found():
    schema = {"$defs": {"a": {"allOf": [{"$ref": "#/$defs/b"}]}, "b": {"anyOf": [{"$ref": "#/$defs/a"}, {}]}}}
    assert [each.keyword for each in check_any(schema)] == ["schema.ref_endless"]


def test_any_kind_of_value_may_be_described_outside_of_tools():
    assert check_any({"type": "array"}) == []
    assert check_any(True) == []
    assert [each.keyword for each in check_any("x")] == ["schema.object"]


@pytest.mark.parametrize("schema", [None, {}, [], {"type": "object"}, {"properties": {"a": {}}}])
def test_a_filled_schema_is_accepted(schema):
    assert check_schema(fill(schema)) == []


def test_a_large_schema_is_checked_in_bounded_time():
    names = [f"p{number}" for number in range(1_500)]
    schema = {"type": "object", "properties": {name: {"type": "string", "pattern": f"^{name}+$"} for name in names}}
    started = time.process_time()
    assert check_schema(schema) == []
    assert time.process_time() - started < 20


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+$",
        r"(a|a)*b",
        r"(a*)*b",
        r"(a|ab|b)*c",
        r"(a?){30}a{30}",
        "a?" * 30 + "a" * 30,
        r"(ab|a[b]){30}c",
        r"^(\w+\s?)*$",
        r"(x(|y|))+z",
        r".*.*.*.*.*.*x",
        r"^(([a-z])+.)+[A-Z]([a-z])+$",
        r"(?i)^([a-z]+[A-Z])*$",
    ],
)
def test_patterns_that_may_take_for_ever_are_refused(pattern):
    with pytest.raises(PatternError, match=r"pattern\.slow"):
        compiled(pattern)


@pytest.mark.parametrize(
    ("pattern", "keyword"),
    [
        ("[", "pattern.syntax"),
        (r"\p{L}", "pattern.syntax"),
        ("x" * 1_001, "pattern.chars"),
        ("x" * 900, "pattern.complex"),
        ("a*" * 300, "pattern.complex"),
        ("(?:|)" * 40 + "b", "pattern.complex"),
        ("(" * 400, "pattern.syntax"),
        (r"(a)\1", "pattern.feature"),
        (r"(?:(?=a)a)+", "pattern.feature"),
    ],
)
def test_other_patterns_are_refused_for_what_they_are(pattern, keyword):
    with pytest.raises(PatternError) as caught:
        compiled(pattern)
    assert caught.value.keyword == keyword


@pytest.mark.parametrize(
    ("pattern", "text"),
    [
        (r"^[a-z]+(-[a-z]+)*$", "a-nice-slug"),
        (r"^\d+\.\d+\.\d+(-[\w.]+)?(\+[\w.]+)?$", "1.20.3-rc.1+b5"),
        (r"^[^@\s]+@[^@\s]+\.[^@\s]+$", "ann@mail.example.org"),
        (r"^https?://[^/]+/.*$", "https://example.org/a"),
        (r"^([0-9a-f]{2})+$", "00ff"),
        (r"^([0-9A-Fa-f]{2}:){5}[0-9A-Fa-f]{2}$", "00:11:22:33:44:55"),
        (r"^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$", "123e4567-e89b-12d3-a456-426614174000"),
        (r"^((25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(25[0-5]|2[0-4]\d|1?\d?\d)$", "192.168.0.1"),
        (r"^(?=.*\d)(?=.*[a-z]).{8,}$", "passw0rd"),
        (r"^[a-z]+([A-Z][a-z]+)*$", "camelCase"),
        (r"^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?(\.[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)*$", "a-b.example.org"),
        (r"^(monday|tuesday|wednesday|thursday)$", "tuesday"),
        (r"^\$[0-9]+[$]$", "$5$"),
        (r"^[]$]$", "$"),
        (r"^.{0,2000}$", "anything"),
    ],
)
def test_usual_patterns_are_accepted(pattern, text):
    assert compiled(pattern).regex.search(text)
    assert not compiled(pattern).regex.search(text + "\n")


@pytest.mark.parametrize(
    "pattern", [r".*.*x", r"(a|b)*(a|b)*(a|b)*c", r"^\s+$|^.*\s+$", r"a+b|a+c|a+d", r"([ab])*?([ab]){8}.Z"]
)
def test_the_longest_text_that_a_pattern_is_tried_on_is_quick(pattern):
    expression = compiled(pattern)
    for text in ("a", "ab", " "):
        started = time.process_time()
        expression.regex.search((text * expression.longest)[: expression.longest])
        assert time.process_time() - started < 10


def test_a_refused_pattern_is_never_run():
    assert validate({"pattern": "(a+)+$"}, "a" * 100 + "!")[0].keyword == "schema"
