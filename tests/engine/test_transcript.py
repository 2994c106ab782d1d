"""The fold itself, and the digests that bind decisions."""

from decimal import Decimal
from types import MappingProxyType

import pytest

from agentweb.engine.digest import call_digest, canonical
from agentweb.engine.entry import CallEntry
from agentweb.engine.enums import CallStatus, Purpose, ResultKind
from agentweb.engine.events import (
    Event,
    FollowUpTaken,
    MessageFinished,
    ModelRequested,
    Queued,
    RunClaimed,
    RunStarted,
    ToolFinished,
    ToolStarted,
    TurnStarted,
)
from agentweb.engine.messages import AssistantMessage, Json, ToolCall, ToolResult, UserMessage
from agentweb.engine.spending import spent
from agentweb.engine.transcript import Transcript
from agentweb.engine.usage import Usage
from tests.engine.scripted_model import call

ASKED = AssistantMessage("m1", "Working", calls=(call("a"), call("b")))


def result(id: str) -> ToolFinished:
    return ToolFinished(id, "write", ToolResult(id, f"result {id}"))


def test_results_stand_behind_their_message_in_the_order_of_the_model() -> None:
    transcript = Transcript([UserMessage("u1", "Do")])

    for event in (MessageFinished(ASKED, Usage()), result("b"), FollowUpTaken(2, (Queued("u2", "More"),)), result("a")):
        transcript.apply(event)

    assert [getattr(one, "content", None) or one.text for one in transcript.history()] == [
        "Do",
        "Working",
        "result a",
        "result b",
        "More",
    ]


def test_only_closed_calls_have_results_in_the_history() -> None:
    transcript = Transcript([ASKED])
    transcript.apply(result("b"))

    assert transcript.history() == (ASKED, ToolResult("b", "result b"))
    assert transcript.open_calls() == (CallEntry(call("a")),)


def test_calls_of_an_earlier_run_come_with_their_entries() -> None:
    closed = {one.id: CallEntry(one, CallStatus.FINISHED, ToolResult(one.id, "done")) for one in ASKED.calls}

    transcript = Transcript([ASKED, UserMessage("u2", "Thanks")], closed)

    assert transcript.open_calls() == ()
    assert not transcript.answered


def test_a_message_that_says_nothing_is_not_sent() -> None:
    transcript = Transcript([UserMessage("u1", "Hi"), AssistantMessage("m1"), UserMessage("u2", "There?")])

    assert [one.id for one in transcript.history() if not isinstance(one, ToolResult)] == ["u1", "u2"]


def test_a_new_run_counts_its_own_turns() -> None:
    transcript = Transcript(turn=4, turn_open=True)

    transcript.apply(RunStarted("u2", "Assistant", "scripted", 10, "digest"))

    assert (transcript.turn, transcript.turn_open) == (0, False)


@pytest.mark.parametrize(
    ("event", "cost"),
    [
        (TurnStarted(1), Usage(turns=1)),
        (ModelRequested("m1", 1, 1, "scripted", "d", Purpose.WRAP_UP), Usage(model_calls=1)),
        (
            MessageFinished(ASKED, Usage(input_tokens=3, cost=Decimal("0.1"))),
            Usage(input_tokens=3, cost=Decimal("0.1")),
        ),
        (ToolStarted("a", "write", {}), Usage(tool_calls=1)),
        (ToolFinished("a", "write", ToolResult("a", "x", ResultKind.ERROR), seconds=2.5), Usage(seconds=2.5)),
        (RunClaimed("w", 1), Usage()),
    ],
    ids=lambda value: type(value).__name__,
)
def test_each_event_says_what_it_cost(event: Event, cost: Usage) -> None:
    assert spent(event) == cost


@pytest.mark.parametrize("calls", [(), (call("a"),)], ids=["words alone", "with a call"])
def test_a_run_that_is_tried_again_forgets_what_was_answered_in_words_alone(calls: tuple[ToolCall, ...]) -> None:
    said = AssistantMessage("m1", "Half an ans", calls=calls)
    transcript = Transcript([UserMessage("u1", "Do"), said])
    for asked in calls:
        transcript.apply(result(asked.id))

    transcript.apply(RunStarted("u1", "Assistant", "model", 10, "digest"))

    assert not transcript.answered
    assert (said in transcript.messages) is bool(calls)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({"a": 1.0}, {"a": 1}),
        ({"a": [1e22]}, {"a": [10**22]}),
        (MappingProxyType({"a": (1, 2)}), {"a": [1, 2]}),
    ],
    ids=["order", "whole number", "large number", "kind of container"],
)
def test_the_same_arguments_have_one_digest(one: Json, other: Json) -> None:
    assert call_digest(one, "t", "r") == call_digest(other, "t", "r")


@pytest.mark.parametrize(
    "other",
    [({"a": "1"}, "t", "r"), ({"a": True}, "t", "r"), ({"a": 1}, "t2", "r"), ({"a": 1}, "t", "r2"), ({}, "t", "r")],
)
def test_anything_different_has_another_digest(other: tuple[Json, str, str]) -> None:
    assert call_digest(*other) != call_digest({"a": 1}, "t", "r")


def test_canonical_text_holds_any_string() -> None:
    assert canonical({"ü": "\ud800\x00"}) == '{"\\u00fc":"\\ud800\\u0000"}'
