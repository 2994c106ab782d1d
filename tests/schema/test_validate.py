"""Values against schemas, and the words for what is wrong."""

import threading
from typing import Any

import pytest

from agentweb.schema.problems import MESSAGES, TYPE_WORDS, Problem, path_text, problem, render, summary
from agentweb.schema.validate import fits, validate
from tests.schema.values import deep, deep_object

WRITE_FILE: dict[str, Any] = {
    "type": "object",
    "properties": {"path": {"type": "string", "minLength": 1}, "content": {"type": "string"}},
    "required": ["path", "content"],
    "additionalProperties": False,
}


def found(schema, value):
    return [(each.path, each.message) for each in validate(schema, value)]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"path": "a", "content": ""}, []),
        ({"path": "a"}, [("content", "“content” is required.")]),
        ({}, [("content", "“content” is required."), ("path", "“path” is required.")]),
        ({"path": "a", "content": None}, [("content", "Must be text, not null.")]),
        ({"path": 5, "content": "x"}, [("path", "Must be text, not a whole number.")]),
        ({"path": "", "content": "x"}, [("path", "Length must be at least 1, but is 0.")]),
        ({"path": "a", "content": "x", "mode": "w"}, [("mode", "“mode” is not a known field.")]),
        ([], [("", "Must be an object, not a list.")]),
        ("x", [("", "Must be an object, not text.")]),
        (None, [("", "Must be an object, not null.")]),
    ],
)
def test_arguments_of_a_tool_that_writes_files(value, expected):
    assert found(WRITE_FILE, value) == expected


@pytest.mark.parametrize(
    ("schema", "value", "message"),
    [
        ({"type": "integer"}, "3", "Must be a whole number, not text."),
        ({"type": "integer"}, 1.5, "Must be a whole number, not a number with decimals."),
        ({"type": "integer"}, True, "Must be a whole number, not true or false."),
        ({"type": ["string", "null"]}, 1, "Must be text or null, not a whole number."),
        ({"type": "array"}, {}, "Must be a list, not an object."),
        ({"enum": ["red", 1, None]}, "blue", 'Must be one of: "red", 1, null.'),
        (
            {"enum": list(range(20))},
            99,
            "Must be one of: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, ….",
        ),
        ({"const": "x"}, "y", 'Must be exactly "x".'),
        ({"format": "email"}, "nobody", "Must be an e-mail address."),
        ({"format": "email"}, "a b@c.d", "Must be an e-mail address."),
        ({"format": "date"}, "31.1.2026", "Must be a date like 2026-01-31."),
        ({"format": "uri"}, "not a uri", "Must be a complete web address."),
        ({"format": "json-pointer"}, "a/b", "Must have the format “json-pointer”."),
        ({"format": "iri"}, "http://例え.jp/a b", "Must be a complete web address."),
        ({"format": "iri"}, "//例え.jp/", "Must be a complete web address."),
        ({"format": "iri-reference"}, "a b", "Must be a web address."),
        ({"format": "uri"}, "http://a/" + "a" * 3_000, "Too long to be checked as “uri”: at most 2000 characters."),
        ({"pattern": "^[a-z]+$"}, "A", "Must match the pattern ^[a-z]+$."),
        ({"pattern": "^[a-z]+$"}, "a\n", "Must match the pattern ^[a-z]+$."),
        ({"pattern": r"^\d$"}, "٣", r"Must match the pattern ^\d$."),
        ({"maxLength": 2}, "abc", "Length must be at most 2, but is 3."),
        ({"minimum": 3}, 2, "Must be 3 or more."),
        ({"maximum": 3.5}, 4, "Must be 3.5 or less."),
        ({"exclusiveMinimum": 0}, 0, "Must be more than 0."),
        ({"exclusiveMaximum": 1}, 1, "Must be less than 1."),
        ({"multipleOf": 0.1}, 0.35, "Must be a multiple of 0.1."),
        ({"minItems": 1}, [], "Number of entries must be at least 1, but is 0."),
        ({"maxItems": 1}, [1, 2], "Number of entries must be at most 1, but is 2."),
        ({"uniqueItems": True}, [{"a": 1}, {"a": 1.0}], "No entry may occur twice."),
        ({"contains": {"type": "string"}}, [1], "No entry is of the kind that must be in the list."),
        (
            {"contains": {"type": "string"}, "maxContains": 1},
            ["a", "b"],
            "Too many entries of one kind: at most 1.",
        ),
        ({"minProperties": 1}, {}, "Number of fields must be at least 1, but is 0."),
        ({"propertyNames": False}, {"a": 1}, "No value is allowed here."),
        ({"unevaluatedProperties": False}, {"a": 1}, "Has fields that are not allowed."),
        ({"prefixItems": [True], "items": False}, [1, 2], "Has more entries than allowed."),
        ({"not": {"type": "string"}}, "x", "Has a form that is not allowed."),
        (
            {"oneOf": [{"type": "integer"}, {"minimum": 0}]},
            5,
            "Fits more than one of the forms of which it may have only one.",
        ),
        ({"anyOf": [{"type": "integer"}, {"type": "null"}]}, "x", "Must be a whole number or null, not text."),
        ({"anyOf": [{"minimum": 5}, {"maximum": 1}]}, 3, "Fits none of the allowed forms."),
        (False, 1, "No value is allowed here."),
    ],
)
def test_each_rule_has_its_own_words(schema, value, message):
    assert [each.message for each in validate(schema, value)] == [message]


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (True, 1),
        ({}, None),
        ({"multipleOf": 0.1}, 0.3),
        ({"type": "integer"}, 30.0),
        ({"uniqueItems": True}, [1, True, "1"]),
        ({"format": "unknown"}, "x"),
        ({"format": "iri"}, "http://例え.jp/引き割り?q=\ud800"),
        ({"format": "iri-reference"}, "引き割り/#納豆"),
        ({"format": "email"}, 5),
        ({"$ref": "#/$defs/x", "$defs": {"x": {"type": "string"}}}, "a"),
        ({"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "string"}]}, ["a", 1]),
        ({"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 1, "exclusiveMinimum": True}, 2),
    ],
)
def test_these_fit(schema, value):
    assert validate(schema, value) == []


@pytest.mark.parametrize(
    ("schema", "value", "path"),
    [
        ({"items": {"type": "string"}}, ["a", 1], "[1]"),
        ({"properties": {"tags": {"items": {"maxLength": 1}}}}, {"tags": ["a", "bb"]}, "tags[1]"),
        ({"properties": {"meta": {"required": ["k"]}}}, {"meta": {}}, "meta.k"),
        ({"properties": {"a b": {"required": ["c.d"]}}}, {"a b": {}}, '["a b"]["c.d"]'),
        ({"dependentRequired": {"cc": ["to"]}}, {"cc": 1}, "to"),
        (
            {"properties": {"who": {"anyOf": [{"type": "object", "required": ["id"]}, {"type": "null"}]}}},
            {"who": {}},
            "who.id",
        ),
    ],
)
def test_a_problem_is_placed_at_its_field(schema, value, path):
    assert [each.path for each in validate(schema, value)] == [path]


def test_of_several_forms_of_an_object_the_one_named_by_its_constant_is_explained():
    schema = {
        "oneOf": [
            {"properties": {"kind": {"const": "mail"}, "to": {"type": "string"}}, "required": ["kind", "to"]},
            {"properties": {"kind": {"const": "page"}, "url": {"type": "string"}}, "required": ["kind", "url"]},
        ]
    }
    assert found(schema, {"kind": "page"}) == [("url", "“url” is required.")]


def test_no_message_repeats_a_large_value():
    schema = {"properties": {"a": {"enum": ["x" * 5_000]}, "b": {"const": "y" * 5_000}, "c": {"pattern": "z" * 240}}}
    value = {name: "v" * 100_000 for name in "abc"}
    problems = validate(schema, value)
    assert len(problems) == 3
    assert all(len(each.message) < 300 for each in problems)


def test_the_number_of_problems_is_bounded():
    assert len(validate({"items": {"type": "string"}}, [1] * 5_000)) == 50


@pytest.mark.parametrize(
    ("schema", "keyword"),
    [
        (None, "schema.object"),
        ([], "schema.object"),
        ({"type": "objekt"}, "schema.invalid"),
        ({"$ref": "https://example.org/x"}, "schema.ref_remote"),
        ({"pattern": "(a+)+"}, "pattern.slow"),
        (deep(), "json.depth"),
        (deep_object(), "json.depth"),
    ],
)
def test_an_unusable_schema_fits_nothing(schema, keyword):
    (only,) = validate(schema, {})
    assert only.keyword == "schema"
    assert only.params["keyword"] == keyword
    assert only.message.startswith("The description of what is allowed cannot be used: ")


@pytest.mark.parametrize(
    ("value", "keyword"),
    [
        (deep(), "json.depth"),
        (deep_object(), "json.depth"),
        ({"a": float("nan")}, "json.constant"),
        ({1: 2}, "json.key"),
        ([0] * 60_000, "json.size"),
    ],
)
def test_a_value_that_cannot_be_checked_does_not_fit(value, keyword):
    assert [each.keyword for each in validate({}, value)] == [keyword]


TWICE = {"$defs": {"t": {"anyOf": [{"type": "array", "items": {"$ref": "#/$defs/t"}}] * 2}}, "$ref": "#/$defs/t"}
MANY_NAMES = {"patternProperties": {f"a{number}": True for number in range(300)}}


@pytest.mark.parametrize(
    ("schema", "value"),
    [
        (TWICE, [[[[[[[[[[[[[[[[[[[[[[[[[[[[[[5]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]),
        (MANY_NAMES, {f"b{number}": 1 for number in range(5_000)}),
        ({"patternProperties": {"a": True}}, {"x" * 1_001: 1}),
        ({"items": {"format": "uri"}}, ["http://a/b"] * 20_000),
    ],
)
def test_work_is_bounded(schema, value):
    assert [each.keyword for each in validate(schema, value)] == ["effort"]


def test_a_deep_value_is_checked_against_a_schema_that_contains_itself():
    tree = {"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": False}
    value: dict[str, Any] = {"wrong": 1}
    for _ in range(40):
        value = {"next": value}
    assert [each.keyword for each in validate(tree, value)] == ["additionalProperties"]


def test_texts_are_not_tried_beyond_the_length_that_a_pattern_is_quick_on():
    (only,) = validate({"pattern": ".*.*x"}, "a" * 10_000)
    assert only.keyword == "pattern.length"


def test_a_schema_that_is_changed_afterwards_is_read_anew():
    schema: dict[str, Any] = {"type": "string"}
    assert validate(schema, "x") == []
    schema["type"] = "integer"
    assert [each.keyword for each in validate(schema, "x")] == ["type"]


def test_the_arguments_stay_unchanged():
    value = {"a": [1, {"b": None}]}
    validate({"properties": {"a": {"default": 3}}}, value)
    assert value == {"a": [1, {"b": None}]}


def test_several_threads_can_check_at_once():
    results: list[list[Problem]] = []
    threads = [threading.Thread(target=lambda: results.append(validate(WRITE_FILE, {"path": 1}))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(each) for each in results] == [2] * 8


def test_a_problem_can_be_told_in_another_language():
    german = {
        MESSAGES["type"]: "Muss %(expected)s sein, nicht %(actual)s.",
        TYPE_WORDS["string"]: "Text",
        TYPE_WORDS["null"]: "null",
        TYPE_WORDS["integer"]: "eine ganze Zahl",
        " or ": " oder ",
    }
    (only,) = validate({"type": ["string", "null"]}, 3)
    assert render(only.keyword, only.params, german.__getitem__) == "Muss Text oder null sein, nicht eine ganze Zahl."


def test_every_problem_can_be_told_again_from_its_parameters():
    problems = [*validate(WRITE_FILE, {"path": 1, "x": 2}), *validate({"type": "x"}, 1), *validate({"enum": [1]}, 2)]
    assert [render(each.keyword, each.params) for each in problems] == [each.message for each in problems]


def test_a_summary_has_a_line_for_each_problem():
    problems = validate(WRITE_FILE, {"path": 1})
    assert summary(problems) == "content: “content” is required.\npath: Must be text, not a whole number."
    assert summary(problems, limit=1).endswith("\n…")
    assert summary([problem("effort")]) == "Too large to be checked against this schema."


@pytest.mark.parametrize(
    ("steps", "text"),
    [((), ""), (("tags", 1), "tags[1]"), (("meta", "k"), "meta.k"), ((0, "a"), "[0].a"), (("a", 'b"]'), 'a["b\\"]"]')],
)
def test_paths_are_written_as_people_read_them(steps, text):
    assert path_text(steps) == text


@pytest.mark.parametrize(
    ("schema", "value", "expected"),
    [
        pytest.param({"type": "string"}, "a", True, id="fits"),
        pytest.param({"type": "string"}, 1, False, id="does not fit"),
        pytest.param({"type": "banana"}, 1, None, id="no schema"),
        pytest.param(object(), 1, None, id="nothing like a schema"),
        pytest.param({"not": {"pattern": "a*b*c*a*d"}}, "a" * 9_000, None, id="a pattern that was not tried"),
        pytest.param({"not": {"format": "email"}}, "a" * 9_000, None, id="a format that was not tried"),
        pytest.param({"not": {"pattern": "a*b*c*a*d"}}, "abcad", False, id="a pattern that was tried"),
    ],
)
def test_whether_a_value_fits_where_it_can_be_told(schema, value, expected):
    assert fits(schema, value) is expected
