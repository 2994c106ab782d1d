"""What comes back from a form."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentweb.schema.form import Kind, form
from agentweb.schema.json_text import canonical
from agentweb.schema.posted import parse
from tests.schema.values import json_objects, json_values, texts

MAIL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "to": {"type": "string", "format": "email"},
        "body": {"type": "string"},
        "copies": {"type": "integer", "minimum": 1},
        "weight": {"type": "number"},
        "urgent": {"type": "boolean"},
        "kind": {"enum": ["plain", "html"]},
        "tags": {"type": "array", "items": {"type": "string", "maxLength": 5}},
        "flags": {"type": "array", "items": {"enum": ["a", "b", "c"]}},
        "meta": {"type": "object", "properties": {"k": {"type": "integer"}}},
        "note": {"type": ["string", "null"], "minLength": 2},
    },
    "required": ["to", "body"],
}
ORIGINAL: dict[str, Any] = {"to": "ann@example.org", "body": "Hi", "copies": 30, "urgent": True, "extra": [1]}


def browser(schema: Any, value: dict[str, Any], **typed: str | list[str]) -> dict[str, list[str]]:
    """What a browser posts: line breaks as CR LF, nothing for boxes that are not ticked."""
    posted: dict[str, list[str]] = {}
    for field in form(schema, value):
        if field.read_only:
            continue
        shown = typed.get(field.name, list(field.value) if isinstance(field.value, tuple) else field.value)
        if field.kind is Kind.BOOLEAN:
            shown = ["on"] if shown == "true" else []
        breaks = [text.replace("\r\n", "\n").replace("\r", "\n").replace("\n", "\r\n") for text in _as_list(shown)]
        if breaks or field.kind not in (Kind.BOOLEAN, Kind.MULTICHOICE):
            posted[field.name] = breaks
    return posted


def _as_list(shown: str | list[str]) -> list[str]:
    return [shown] if isinstance(shown, str) else list(shown)


def edited(original: dict[str, Any] = ORIGINAL, schema: Any = MAIL, **typed: str | list[str]):
    return parse(schema, browser(schema, original, **typed), original)


def test_an_untouched_form_gives_the_same_arguments():
    parsed = edited()
    assert parsed.arguments == ORIGINAL
    assert list(parsed.arguments) == list(ORIGINAL)
    assert parsed.problems == ()


@pytest.mark.parametrize(
    ("typed", "changed"),
    [
        ({"body": " two\nlines "}, {"body": " two\nlines "}),
        ({"body": ""}, {"body": ""}),
        ({"copies": " 31 "}, {"copies": 31}),
        ({"copies": "31.0"}, {"copies": 31}),
        ({"weight": "30"}, {"weight": 30}),
        ({"weight": "-1.5e3"}, {"weight": -1500.0}),
        ({"weight": ".5"}, {"weight": 0.5}),
        ({"urgent": "false"}, {"urgent": False}),
        ({"kind": "html"}, {"kind": "html"}),
        ({"tags": "a\n b\n\n"}, {"tags": ["a", " b"]}),
        ({"flags": ["c", "a"]}, {"flags": ["a", "c"]}),
        ({"meta": '{"k": 1}'}, {"meta": {"k": 1}}),
        ({"*": '{"other": null}'}, {"extra": "gone", "other": None}),
        ({"*": ""}, {"extra": "gone"}),
        ({"copies": ""}, {"copies": "gone"}),
        ({"note": "hm"}, {"note": "hm"}),
    ],
)
def test_what_is_changed_is_read_as_its_kind(typed, changed):
    parsed = edited(**typed)
    expected = {name: value for name, value in (ORIGINAL | changed).items() if value != "gone"}
    assert parsed.arguments == expected
    assert canonical(parsed.arguments) == canonical(expected)
    assert type(parsed.arguments.get("copies")) in (int, type(None))
    assert parsed.problems == ()


@pytest.mark.parametrize(
    ("typed", "path", "keyword"),
    [
        ({"copies": "many"}, "copies", "form.integer"),
        ({"copies": "1.5"}, "copies", "form.integer"),
        ({"copies": "٣"}, "copies", "form.integer"),
        ({"copies": "9" * 2_000}, "copies", "form.integer"),
        ({"weight": "1,5"}, "weight", "form.number"),
        ({"weight": "1e999"}, "weight", "form.number"),
        ({"weight": "nan"}, "weight", "form.number"),
        ({"kind": "other"}, "kind", "form.choice"),
        ({"flags": ["a", "x"]}, "flags", "form.choice"),
        ({"meta": "{k: 1}"}, "meta", "json.name"),
        ({"meta": "[" * 10_000}, "meta", "json.depth"),
        ({"*": "[1]"}, "*", "form.object"),
        ({"*": "{"}, "*", "json.name"),
        ({"*": '{"to": 1}'}, "*", "form.described"),
        ({"copies": "0"}, "copies", "minimum"),
        ({"to": "nobody"}, "to", "format"),
        ({"tags": "a\ntoo long"}, "tags[1]", "maxLength"),
        ({"meta": '{"k": "x"}'}, "meta.k", "type"),
        ({"meta": "5"}, "meta", "type"),
        ({"note": "x"}, "note", "minLength"),
    ],
)
def test_what_is_wrong_is_reported_on_its_field_alone(typed, path, keyword):
    parsed = edited(**typed)
    assert [(each.path, each.keyword) for each in parsed.problems] == [(path, keyword)]


def test_a_required_field_that_stays_empty_is_missing():
    parsed = edited({"to": "ann@example.org"})
    assert "body" not in parsed.arguments
    assert [(each.path, each.keyword) for each in parsed.problems] == [("body", "required")]


def test_a_field_that_could_not_be_read_is_not_also_called_missing():
    schema = {"properties": {"n": {"type": "integer"}}, "required": ["n"]}
    assert [each.keyword for each in edited({}, schema, n="x").problems] == ["form.integer"]


@pytest.mark.parametrize("value", [{}, {"note": None}, {"note": ""}, {"note": "x\r\ny\nz\r"}])
def test_absent_null_empty_and_odd_line_breaks_stay_what_they_are(value):
    assert edited(value).arguments == value


@pytest.mark.parametrize(
    ("before", "typed", "after"),
    [("a\nb", "a\nb\nc", "a\nb\nc"), ("a\r\nb", "a\nb\nc", "a\r\nb\r\nc"), ("", "a\nb", "a\nb")],
)
def test_line_breaks_are_those_of_the_original(before, typed, after):
    assert edited({"body": before}, body=typed).arguments["body"] == after


@pytest.mark.parametrize(
    ("schema", "before", "after"),
    [
        ({"type": "string"}, "x", {"it": ""}),
        ({"type": "string", "minLength": 1}, "x", {}),
        ({"type": "integer"}, 1, {}),
        ({"type": ["integer", "null"]}, 1, {}),
        ({"type": "array", "items": {"type": "string"}}, ["a"], {"it": []}),
        ({"type": "object"}, {"a": 1}, {}),
        ({"enum": ["a"]}, "a", {}),
    ],
)
def test_an_optional_box_that_is_emptied(schema, before, after):
    assert edited({"it": before}, {"properties": {"it": schema}}, it="").arguments == after


def test_a_required_number_that_may_be_null_becomes_null_when_emptied():
    schema = {"properties": {"it": {"type": ["integer", "null"]}}, "required": ["it"]}
    assert edited({"it": 1}, schema, it="").arguments == {"it": None}


def test_ticking_nothing_empties_a_list_that_was_there_and_adds_none():
    assert edited(ORIGINAL | {"flags": ["b"]}, flags=[]).arguments["flags"] == []
    assert "flags" not in edited(flags=[]).arguments


def test_ticked_choices_keep_their_order_and_new_ones_follow():
    assert edited(ORIGINAL | {"flags": ["c", "a"]}, flags=["a", "b", "c"]).arguments["flags"] == ["c", "a", "b"]


def test_an_absent_boolean_can_be_set_to_false():
    original = {"to": "ann@example.org", "body": "Hi"}
    assert edited(original, urgent="false").arguments == original | {"urgent": False}


def test_a_tick_box_with_a_hidden_companion_counts_its_last_value():
    assert parse(MAIL, {"urgent": ["false", "true"]}, ORIGINAL).arguments["urgent"] is True
    assert [each.keyword for each in parse(MAIL, {"urgent": ["perhaps"]}, ORIGINAL).problems] == ["form.boolean"]


def test_boxes_that_are_not_posted_keep_their_value():
    assert parse(MAIL, {"urgent": ["on"]}, ORIGINAL).arguments == ORIGINAL


def test_a_read_only_field_cannot_be_changed():
    schema = {"properties": {"id": {"type": "string", "readOnly": True}}}
    assert parse(schema, {"id": ["9"]}, {"id": "7"}).arguments == {"id": "7"}


def test_the_original_stays_as_it_is():
    original = {"to": "ann@example.org", "body": "Hi", "meta": {"k": 1}}
    parse(MAIL, {"meta": ['{"k": 2}'], "body": ["Ho"]}, original)
    assert original == {"to": "ann@example.org", "body": "Hi", "meta": {"k": 1}}


simple_schemas = st.sampled_from(
    [
        *MAIL["properties"].values(),
        {"type": "array"},
        {"enum": ["", "a", None, 1, [1]]},
        {"enum": ["a\nb", "c"]},
        {"type": "array", "items": {"enum": [1, "1", True]}},
        {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        {"oneOf": [{"type": "string"}, {"type": "array"}]},
        {"type": "string", "readOnly": True},
        {"type": ["string", "integer"]},
        {},
        True,
    ]
)
breaking = texts | st.text(st.sampled_from("a \r\n\t,*"), max_size=6)
values = json_values | breaking | st.lists(breaking | st.sampled_from(["a", 1, "1", True]), max_size=3)
schemas = st.fixed_dictionaries(
    {
        "properties": st.dictionaries(
            st.sampled_from([*"abcdef*", "a\nb", "", "body"]) | texts, simple_schemas, max_size=6
        )
    },
    optional={"required": st.lists(st.sampled_from("abc"), unique=True), "additionalProperties": st.booleans()},
)


@given(schemas, json_objects, st.data())
def test_any_arguments_come_back_from_an_untouched_form_as_they_were(schema, extra, data):
    drawn = {name: data.draw(values) for name in schema["properties"] if data.draw(st.booleans())}
    original = extra | drawn
    parsed = parse(schema, browser(schema, original), original)
    assert parsed.arguments == original
    assert canonical(parsed.arguments) == canonical(original)
    assert list(parsed.arguments) == list(original)


@given(schemas, json_objects, st.data())
def test_whatever_is_typed_is_read_or_reported(schema, original, data):
    posted = {field.name: data.draw(st.lists(breaking, max_size=2)) for field in form(schema, original)}
    parsed = parse(schema, posted, original)
    assert all(each.path and each.message for each in parsed.problems)
