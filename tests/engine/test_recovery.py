"""Going on after a worker was lost, from what was recorded."""

import asyncio
from collections.abc import AsyncIterator, Mapping

import pytest

from agentweb.engine.enums import CallStatus, DecisionKind, ResultKind
from agentweb.engine.events import (
    ApprovalRequested,
    Delta,
    MessageFinished,
    ModelRequested,
    OutcomeUnknown,
    RunPaused,
    ToolFinished,
    ToolStarted,
    TurnStarted,
)
from agentweb.engine.messages import Json
from agentweb.engine.ports import Decision, Output, Progress, ToolSuspension
from tests.engine.fakes import ASK, FakePolicy, Says, Shell, call, has, tool
from tests.engine.test_acting import raising

REJECT, RESPOND, APPROVE = DecisionKind.REJECT, DecisionKind.RESPOND, DecisionKind.APPROVE


async def test_a_model_call_that_was_lost_is_made_again_in_the_same_turn() -> None:
    shell = Shell(Says("Hello", hangs=True), Says("Hello again"))
    await shell.crash(lambda step: isinstance(step, Delta))

    await shell.resume()

    assert shell.kinds == [
        "TurnStarted ModelRequested",
        "MessageInterrupted",
        "ModelRequested",
        "MessageFinished TurnFinished RunFinished",
    ]
    assert [(e.turn, e.attempt) for e in shell.events if isinstance(e, ModelRequested)] == [(1, 1), (1, 2)]
    assert shell.usage.turns == 1


async def test_calls_that_had_not_started_just_run() -> None:
    used = tool("write")
    shell = Shell(Says("", (call("a"),)), Says("Done"), tools=(used,))
    await shell.crash(has(MessageFinished))

    await shell.resume()

    assert len(used.runs) == 1
    assert [e.turn for e in shell.events if isinstance(e, TurnStarted)] == [1, 2]
    shell.model.done()


async def test_a_call_lost_in_the_middle_is_unknown_and_never_run_again_by_itself() -> None:
    used = tool("write")
    shell = Shell(Says("", (call("a"), call("b"))), tools=(used,))
    await shell.crash(has(ToolStarted))

    await shell.resume()
    await shell.resume()

    assert shell.kinds[3:] == ["OutcomeUnknown RunPaused", "RunPaused"]
    assert isinstance(shell.events[-1], RunPaused)
    assert shell.events[-1].calls == ("a",)
    assert shell.entry("b").status is CallStatus.OPEN
    assert used.runs == []


async def test_a_repeatable_call_lost_in_the_middle_runs_again() -> None:
    used = tool("read", reads=True, repeatable=True)
    shell = Shell(Says("", (call("a", "read"),)), Says("Done"), tools=(used,))
    await shell.crash(has(ToolStarted))

    await shell.resume()

    assert [e.attempt for e in shell.events if isinstance(e, ToolStarted)] == [1, 2]
    assert not any(isinstance(e, OutcomeUnknown) for e in shell.events)


async def test_a_repeatable_call_that_policy_no_longer_allows_is_asked_about() -> None:
    shell = Shell(Says("", (call("a"),)), tools=(tool("write", repeatable=True),))
    await shell.crash(has(ToolStarted))
    shell.policy.rules["write"] = ASK

    await shell.resume()

    assert shell.kinds[-1] == "ApprovalRequested RunPaused"


async def test_results_that_were_recorded_are_kept() -> None:
    async def endless(arguments: Mapping[str, Json]) -> AsyncIterator[Progress | Output]:
        await asyncio.Event().wait()
        yield Output("never")

    fast = tool("read", reads=True)
    shell = Shell(Says("", (call("a", "read"), call("b"))), tools=(tool("write", endless), fast))
    await shell.crash(has(ToolFinished))

    await shell.resume()

    assert shell.results() == {"a": "did {}"}
    assert len(fast.runs) == 1
    assert shell.entry("b").status is CallStatus.UNKNOWN


@pytest.mark.parametrize(
    ("kind", "result", "text"),
    [
        (RESPOND, ResultKind.ANSWERED, "Answered by Ann in place of the tool: It was done."),
        (REJECT, ResultKind.REJECTED, "Not run: rejected by Ann: leave it"),
    ],
)
async def test_a_person_says_what_became_of_an_unknown_call(kind: DecisionKind, result: ResultKind, text: str) -> None:
    shell = Shell(Says("", (call("a"),)), Says("Done"), tools=(tool("write"),))
    await shell.crash(has(ToolStarted))
    await shell.resume()

    shell.decisions["a"] = Decision("", kind, "Ann", "", comment="leave it", response="It was done.")
    await shell.resume()

    entry = shell.entry("a")
    assert entry.result is not None
    assert (entry.result.kind, entry.result.content) == (result, text)


async def test_running_an_unknown_call_again_is_asked_about_when_policy_asks() -> None:
    used = tool("write")
    shell = Shell(Says("", (call("a"),)), Says("Done"), tools=(used,))
    await shell.crash(has(ToolStarted))
    await shell.resume()
    shell.policy.rules["write"] = ASK

    shell.decisions["a"] = Decision("", APPROVE, "Ann", "")
    await shell.resume()

    assert shell.kinds[-1] == "ApprovalRequested RunPaused"
    shell.decide("a", APPROVE)
    await shell.resume()
    assert len(used.runs) == 1
    assert [e.attempt for e in shell.events if isinstance(e, ToolStarted)] == [1, 2]


async def test_an_approval_does_not_outlive_the_run_of_the_call_that_it_was_for() -> None:
    used = tool("write")
    shell = await Shell(Says("", (call("a"),)), tools=(used,), policy=FakePolicy({"write": ASK})).go()
    shell.decide("a", APPROVE)
    shell.claim()
    await shell.crash(has(ToolStarted))

    await shell.resume()
    await shell.resume()

    assert shell.entry("a").status is CallStatus.UNKNOWN
    assert used.runs == []


async def test_recovery_leaves_a_call_that_waits_for_a_person_alone() -> None:
    shell = await Shell(Says("", (call("a"),)), tools=(tool("write"),), policy=FakePolicy({"write": ASK})).go()

    await shell.resume()

    assert len([e for e in shell.events if isinstance(e, ApprovalRequested)]) == 1
    assert shell.kinds[-1] == "RunPaused"


@pytest.mark.parametrize(
    ("kind", "status"), [(RESPOND, CallStatus.FINISHED), (REJECT, CallStatus.REJECTED), (APPROVE, CallStatus.SUSPENDED)]
)
async def test_a_suspended_call_takes_an_answer_or_a_refusal_and_consent_is_none(
    kind: DecisionKind, status: CallStatus
) -> None:
    used = raising(ToolSuspension("Which city?"))
    shell = await Shell(Says("", (call("a"),)), Says("Done"), tools=(used,)).go()

    shell.decisions["a"] = Decision("", kind, "Ann", "", response="Rome")
    await shell.resume()

    assert shell.entry("a").status is status
    assert len(used.runs) == 1


async def test_a_run_is_at_rest_between_model_calls_and_tools_only() -> None:
    shell = Shell(Says("", (call("a"),)), Says("Done"), tools=(tool("write"),))
    at_rest: list[bool] = []

    await shell.go(lambda step: at_rest.append(shell.transcript.at_rest) if isinstance(step, tuple) else None)

    assert list(zip(shell.kinds, at_rest, strict=True)) == [
        ("TurnStarted ModelRequested", False),
        ("MessageFinished", True),
        ("ToolStarted", False),
        ("ToolFinished TurnFinished TurnStarted ModelRequested", False),
        ("MessageFinished TurnFinished RunFinished", True),
    ]
