"""What a tool returns becomes short text without anything hidden in it."""

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from agentweb.engine.ports import Output
from agentweb.toolbox.results import MOST_CHARACTERS, to_output


@pytest.mark.parametrize(
    ("value", "content"),
    [
        ("text", "text"),
        ("", ""),
        (Output("text"), "text"),
        (None, "null"),
        (3, "3"),
        ({"城市": ["北京", 1.5, True]}, '{"城市": ["北京", 1.5, true]}'),
        ({"on": date(2026, 8, 1), "cost": Decimal("0.10")}, '{"on": "2026-08-01", "cost": "0.10"}'),
    ],
)
def test_every_value_becomes_text(value: Any, content: str) -> None:
    assert to_output(value) == Output(content)


def test_a_long_text_is_cut_for_the_model_and_kept_whole_for_people() -> None:
    whole = "天" * 25_000
    output = to_output(whole)
    assert output.content == "天" * 20_000 + "\n\n[Cut: these are the first 20,000 of 25,000 characters.]"
    assert output.full == whole
    assert MOST_CHARACTERS == 20_000


def test_a_text_at_the_limit_is_not_cut() -> None:
    assert to_output("x" * 10, most=10) == Output("x" * 10)
    assert to_output("x" * 11, most=10).full == "x" * 11


def test_hidden_characters_are_made_visible_with_a_note_and_the_text_is_kept_as_it_was() -> None:
    output = to_output("Hi\u200b\U000e0041")
    assert output.content == "Hi<U+200B><U+E0041>\n\n[Invisible characters were made visible as <U+…>: 2 of them.]"
    assert output.full == "Hi\u200b\U000e0041"


def test_what_a_tool_itself_kept_for_people_is_left_alone() -> None:
    output = to_output(Output("x" * 30, full="the whole"), most=10)
    assert output.full == "the whole"
    assert output.content.startswith("x" * 10 + "\n\n[Cut: these are the first 10 of 30")
