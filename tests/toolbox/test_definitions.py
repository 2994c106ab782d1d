"""Definitions of tools from outside: names that providers accept, and what counts as another definition."""

import re
from dataclasses import replace

import pytest

from agentweb.toolbox.definitions import Definition, free_name

PINNED = Definition(
    name="send",
    true_name="mail.send",
    label="Send",
    description="Sends a mail.",
    parameters={"type": "object", "properties": {"to": {"type": "string"}, "about": {"type": "string"}}},
    raw={"description": "Sends a mail."},
)


@pytest.mark.parametrize(
    "wanted", ["calendar.create", "New Tool", "a/b", "日历", "", "x" * 300, "é", "_", "\x00", "a b"]
)
def test_every_name_becomes_one_that_providers_accept(wanted):
    assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", free_name(wanted, ()))


def test_a_name_that_is_fine_stays_and_one_that_is_taken_gets_a_number():
    assert free_name("get_time", ()) == "get_time"
    assert free_name("get_time", {"get_time", "get_time_2"}) == "get_time_3"
    assert free_name("calendar.create", ()) == "calendar_create"
    assert len(free_name("x" * 64, {"x" * 64})) == 64


def test_names_that_differ_only_in_what_cannot_be_kept_stay_apart_whatever_their_order():
    assert free_name("日历", ()) != free_name("日曆", ())
    assert free_name("y" * 70, ()) != free_name("y" * 71, ())


def test_a_definition_comes_back_from_its_text_with_the_order_of_its_parameters():
    again = Definition.from_text(PINNED.to_text())
    assert again == PINNED
    assert list(again.parameters["properties"]) == ["to", "about"]
    assert again.digest == PINNED.digest


def test_what_is_no_definition_is_refused():
    for text in ("", "{}", '{"name": 1}', "[]"):
        with pytest.raises(ValueError):
            Definition.from_text(text)


@pytest.mark.parametrize(
    "change",
    [{"description": "x"}, {"parameters": {"type": "object"}}, {"raw": {}}, {"reads": True}, {"name": "b"}],
)
def test_whatever_a_call_is_judged_by_changes_the_digest(change):
    assert replace(PINNED, **change).digest != PINNED.digest


def test_the_label_and_our_own_reading_change_nothing_of_what_the_source_said():
    assert replace(PINNED, label="Post").digest == PINNED.digest
    assert replace(PINNED, parameters={}, name="b", reads=True).source_digest == PINNED.source_digest
    assert replace(PINNED, raw={"description": "Sends a mail!"}).source_digest != PINNED.source_digest
