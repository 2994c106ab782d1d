"""Events survive the way to JSON text and back."""

import json
from decimal import Decimal

import pytest

from agentweb.engine import enums, events
from agentweb.engine.codec import KINDS, decode, encode, kind_of
from agentweb.engine.messages import AssistantMessage, ToolCall, ToolResult
from agentweb.engine.terms import Circle, Consent, Later, Named, Terms
from agentweb.engine.usage import Usage

USAGE = Usage(turns=2, input_tokens=10, cost=Decimal("0.00001000"), seconds=1.5)
FAULT = events.ModelFault(enums.ErrorKind.RATE_LIMIT, "Too many requests.", True)
CALL = ToolCall("c1", "write_file", {"path": "a"}, '{"path": "a"}', "call_0", extra={"signature": "x"})
BROKEN = ToolCall("c2", "write_file", None, '{"pa', invalid=enums.Invalid.TRUNCATED, detail="cut off")

TERMS = Terms(5, (Circle(True, "admin", Named(1, "Auditors"), (Named(2, "ann"),), Later(30, "reviewer")),), 2, True)

EXAMPLES = [
    events.RunStarted("m1", "Assistant", "scripted", 10, "d" * 64),
    events.RunClaimed("worker-1", 3),
    events.RunResumed(True),
    events.TurnStarted(1),
    events.SteeringTaken(2, (events.Queued("q1", "shorter", "Ann", 1),)),
    events.FollowUpTaken(2, ()),
    events.GoalsChecked(2, (events.GoalResult("file", "a.md", "File exists: a.md", False, "There is none."),)),
    events.NoteAdded("n1", 3, enums.NoteKind.CIRCLES, "Do something else."),
    events.SummaryRequested("f1", 3, 1, "scripted", "d" * 64, ("m1", "m2"), ("f0",), 800, True),
    events.ContextFolded(
        "f1", 3, enums.Strategy.SUMMARY, ("m1",), ("f0",), 3, "In short.", 9, 1, USAGE, 0.5, FAULT, "A: 1"
    ),
    events.ModelRequested("m2", 1, 1, "scripted", "d" * 64, enums.Purpose.WRAP_UP),
    events.MessageFinished(AssistantMessage("m2", "hi", "hm", (CALL, BROKEN), enums.Finish.TOOL_CALLS), USAGE, 0.5),
    events.MessageInterrupted("m2", "h", "", FAULT),
    events.ModelRetried(1, 2, FAULT, 0.5),
    events.ModelReplaced(1, "large", "small", FAULT),
    events.ToolStarted("c1", "write_file", {"path": "a", "n": [1, None]}, "rule", 2),
    events.ToolFinished("c1", "write_file", ToolResult("c1", "done", enums.ResultKind.OK, "whole"), seconds=0.1),
    events.ToolReplaced("c1", "weather", "weather_backup", ToolResult("c1", "no", enums.ResultKind.ERROR), 1.5, 3),
    events.ToolSuspended("c1", "ask_user", "Which one?", {"type": "object"}),
    events.OutcomeUnknown("c1", "write_file"),
    events.OutcomeSettled("c1", "write_file", enums.Resolution.DONE, "Ann", "looked", "a1"),
    events.ResultReceived("c1", "write_file", "Ann", "a1"),
    events.StopRequested(enums.StopAfter.ACTING, "Guard", "enough"),
    events.ThinkAgainRequested(2, "critic", False),
    events.ArgumentsRewritten("c1", "write_file", "scrub", {"path": "b"}),
    events.SeamFailed("recovery", "recover", "ValueError: no", "A person is asked."),
    events.ApprovalRequested("a1", "c1", "write_file", {}, enums.Risk.HIGH, "d", "rule", preview={"rows": [1]}),
    events.ApprovalRequested("a1", "c1", "write_file", {}, enums.Risk.HIGH, "d", "rule", terms=TERMS),
    events.ApprovalDecided("a1", "c1", enums.ApprovalStatus.EXPIRED),
    events.PreviewRenewed("a1", "c1", "write_file", "d", "Creates a.txt", {"kind": "text", "data": {"text": "x"}}, "s"),
    events.ApprovalDecided("a1", "c1", enums.ApprovalStatus.MODIFIED, enums.DecisionKind.MODIFY, "Ann", "", {"a": 1}),
    events.ApprovalDecided(
        "a1", "c1", enums.ApprovalStatus.APPROVED, consents=(Consent("Ann", "2026-01-01T00:00:00+00:00", "fine"),)
    ),
    events.QuestionAsked("a1", enums.Question.CIRCLES, {"sign": "same_call"}, {}, "d", "loop guard"),
    events.QuestionAsked("a2", enums.Question.BUDGET, {"turns": None}, {"amount": 0.25}, "d", "budget", True),
    events.QuestionDecided("a1", enums.Question.CIRCLES, enums.ApprovalStatus.EXPIRED),
    events.TurnFinished(1),
    events.RunHeld("h1", "write_file", "Ada", "it deletes too much"),
    events.RunPaused(("c1", "c2"), USAGE),
    events.RunFinished(enums.Outcome.FAILED, enums.Reason.MODEL_ERROR, "No answer.", USAGE, FAULT),
]


@pytest.mark.parametrize("event", EXAMPLES, ids=kind_of)
def test_an_event_comes_back_from_json_as_it_was(event):
    assert decode(kind_of(event), json.loads(json.dumps(encode(event)))) == event


def test_every_kind_of_event_has_an_example():
    assert {kind_of(event) for event in EXAMPLES} == set(KINDS)


def test_an_event_from_before_a_field_was_there_is_read_as_it_was_meant():
    asked = next(event for event in EXAMPLES if isinstance(event, events.ApprovalRequested))
    stored = encode(asked)
    del stored["terms"]
    assert decode("ApprovalRequested", stored) == asked
