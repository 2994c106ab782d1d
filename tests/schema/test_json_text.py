"""Reading JSON, and its canonical text."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentweb.schema.json_text import JsonError, brief, canonical, digest, inspect, parse_json, pretty, rebuild, same
from tests.schema.values import deep, deep_object, json_objects, json_values


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{}", {}),
        (' {"a": [1, 2.5, null, true, "x"]} ', {"a": [1, 2.5, None, True, "x"]}),
        ('{"a": 1, "a": 2}', {"a": 2}),
        ("30", 30),
        ("30.0", 30.0),
    ],
)
def test_valid_text_is_read(text, value):
    assert parse_json(text) == value


@pytest.mark.parametrize(
    ("text", "keyword"),
    [
        ("", "json.value"),
        ("nope", "json.value"),
        ('{"a": }', "json.value"),
        ('{"a": 1 "b": 2}', "json.comma"),
        ('{"a" 1}', "json.colon"),
        ("{a: 1}", "json.name"),
        ('{"a": "open', "json.open_text"),
        ('{"a": "line\nbreak"}', "json.control"),
        (r'{"a": "\q"}', "json.escape"),
        ("{} {}", "json.extra"),
        ("NaN", "json.constant"),
        ("[-Infinity]", "json.constant"),
        ("[1e999]", "json.number_size"),
        ("9" * 5000, "json.number_size"),
        ("[" * 65 + "]" * 65, "json.depth"),
        ("[" * 100_000, "json.depth"),
        ('{"a":' * 10_000 + "1" + "}" * 10_000, "json.depth"),
    ],
)
def test_refused_text_says_why_in_words(text, keyword):
    with pytest.raises(JsonError) as caught:
        parse_json(text)
    assert caught.value.keyword == keyword
    assert caught.value.message.endswith(".")
    assert len(caught.value.message) < 200


def test_the_deepest_text_allowed_is_read():
    assert parse_json("[" * 64 + "]" * 64) != []
    assert parse_json("[[1]]", max_depth=2) == [[1]]
    with pytest.raises(JsonError):
        parse_json("[[1]]", max_depth=1)


def test_the_place_of_a_mistake_is_named():
    with pytest.raises(JsonError, match="line 2, column 8"):
        parse_json('{\n  "a": ,\n}')


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"b": 1, "a": [True, None]}, '{"a":[true,null],"b":1}'),
        ("日本 é", '"日本 é"'),
        (30.0, "30"),
        (-0.0, "0"),
        (1e300, "1e+300"),
        (0.1, "0.1"),
        ("\ud800", '"\\ud800"'),
        ((1, 2), "[1,2]"),
    ],
)
def test_the_canonical_text_of(value, text):
    assert canonical(value) == text


@pytest.mark.parametrize(
    "value", [math.nan, [math.inf], {1: 2}, {"a": {1, 2}}, b"x", [10**5000], deep(65), deep(), deep_object()]
)
def test_what_is_not_json_has_no_canonical_text(value):
    with pytest.raises(JsonError):
        canonical(value)
    with pytest.raises(JsonError):
        digest(value)


@given(json_objects, st.randoms())
def test_the_digest_does_not_depend_on_the_order_of_names(value, random):
    names = list(value)
    random.shuffle(names)
    assert digest({name: value[name] for name in names}) == digest(value)


@given(json_values)
def test_the_canonical_text_reads_back_as_the_same_value(value):
    again = json.loads(canonical(value))
    assert same(again, value)
    assert canonical(again) == canonical(value)


@given(json_values, json_values)
def test_values_are_the_same_exactly_when_their_canonical_texts_are(one, other):
    assert same(one, other) == (canonical(one) == canonical(other))


@pytest.mark.parametrize(
    ("one", "other"), [(1, True), (0, False), (None, False), ("1", 1), ({}, []), ({"a": None}, {})]
)
def test_different_kinds_are_never_the_same(one, other):
    assert not same(one, other)
    assert canonical(one) != canonical(other)


def test_depth_never_ends_in_a_recursion_error():
    assert same(deep(), deep())
    assert not same(deep(), deep(9_999))
    assert same(rebuild(deep_object()), deep_object())
    assert pretty(deep()) is None
    assert brief(deep()) == "[…]"


@given(json_values)
def test_a_rebuilt_value_is_an_equal_copy(value):
    assert rebuild(value) == value


def test_a_value_with_too_many_parts_is_refused():
    inspect([0] * 9, max_nodes=10)
    with pytest.raises(JsonError, match="at most 10 values"):
        inspect([0] * 10, max_nodes=10)


def test_long_values_are_cut_for_messages():
    assert brief("x" * 1000) == '"' + "x" * 58 + "…"
    assert brief({"a": "x" * 1000}) == "{…}"
    assert brief(3) == "3"
