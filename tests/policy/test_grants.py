"""Remembered consent covers what people saw and nothing beside it."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agentweb.engine.enums import Risk
from agentweb.engine.messages import ToolCall
from agentweb.engine.ports import Allow, Ask, Deny, ToolSpec
from agentweb.engine.terms import Circle, Terms
from agentweb.policy.grants import Grant, covers, rememberable, with_grants

ASK = Ask("default v1: * → ask", Risk.MEDIUM)
RUN = ToolSpec("run_command", "Run", "Runs.", {"type": "object"}, digest="d1")
GRANT = Grant(
    "g1", "run_command", "d1", {"command": "ls -la"}, frozenset(), "Ann", datetime(2026, 5, 4, 14, 2, tzinfo=UTC)
)


def call(arguments, **more):
    return ToolCall("c1", "run_command", arguments, "", **more)


@pytest.mark.parametrize(
    "arguments",
    [
        {"command": "ls; rm x"},
        {"command": "ls -la; rm x"},
        {"command": "ls && id"},
        {"command": "lsof"},
        {"command": "ls $(id)"},
        {"command": "ls"},
        {"command": "ls -la "},
        {"command": "LS -la"},
        {"command": ["ls -la"]},
        {"command": "ls -la", "cwd": "/"},
        {"command": "ls -la", "cwd": None},
        {},
        None,
    ],
)
def test_what_differs_in_anything_is_asked_about(arguments):
    assert with_grants(ASK, call(arguments), RUN, [GRANT]) is ASK


@pytest.mark.parametrize("terms", [Terms(needed=2), Terms(apart=True), Terms(circles=(Circle(role="admin"),))])
def test_nobody_answers_beforehand_for_those_whom_a_rule_chooses(terms):
    ask = replace(ASK, terms=terms)
    assert with_grants(ask, call({"command": "ls -la"}), RUN, [GRANT]) is ask


def test_the_same_call_runs_by_the_grant_and_says_whose_and_instead_of_what():
    verdict = with_grants(ASK, call({"command": "ls -la"}), RUN, [GRANT])
    assert verdict == Allow(
        "allowed by Ann's grant of 2026-05-04 14:02 UTC; else default v1: * → ask", grant="g1", instead_of=ASK
    )


def test_order_and_number_form_make_no_difference():
    grant = replace(GRANT, arguments={"a": 1, "b": {"x": [1.0, True]}})
    assert covers(grant, "run_command", "d1", {"b": {"x": [1, True]}, "a": 1.0})
    assert not covers(grant, "run_command", "d1", {"b": {"x": [1, 1]}, "a": 1})


def test_only_the_named_arguments_may_vary():
    grant = replace(GRANT, arguments={"path": "a", "content": "x"}, free=frozenset({"content"}))
    assert covers(grant, "run_command", "d1", {"path": "a", "content": "anything"})
    assert covers(grant, "run_command", "d1", {"path": "a"})
    assert not covers(grant, "run_command", "d1", {"path": "b", "content": "x"})
    assert not covers(grant, "run_command", "d1", {"path": "a", "content": "x", "mode": "w"})


@pytest.mark.parametrize(("tool", "digest"), [("run_command", "d2"), ("other", "d1"), ("run_command", "")])
def test_another_tool_or_definition_is_another_question(tool, digest):
    assert not covers(GRANT, tool, digest, {"command": "ls -la"})


@pytest.mark.parametrize(
    "verdict",
    [
        Deny("rule", "no"),
        Allow("rule"),
        Ask("rule", Risk.HIGH),
        Ask("rule", Risk.MEDIUM, requires_comment=True),
    ],
)
def test_a_grant_answers_only_a_question_that_may_be_remembered(verdict):
    assert with_grants(verdict, call({"command": "ls -la"}), RUN, [GRANT]) is verdict


def test_a_call_that_was_found_in_text_is_shown_to_a_person():
    assert with_grants(ASK, call({"command": "ls -la"}, recovered=True), RUN, [GRANT]) is ASK


def test_at_low_and_medium_risk_an_answer_can_be_remembered():
    assert [risk for risk in Risk if rememberable(Ask("rule", risk))] == [Risk.LOW, Risk.MEDIUM]
