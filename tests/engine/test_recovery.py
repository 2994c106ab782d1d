"""Going on after a worker was lost, from what was recorded."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import replace

import pytest

from agentweb.engine.enums import CallStatus, DecisionKind, Resolution, ResultKind
from agentweb.engine.events import (
    ApprovalRequested,
    Delta,
    MessageFinished,
    ModelRequested,
    OutcomeSettled,
    OutcomeUnknown,
    RunFinished,
    RunPaused,
    SeamFailed,
    ToolFinished,
    ToolStarted,
    TurnStarted,
)
from agentweb.engine.messages import Json
from agentweb.engine.ports import Done, Finding, NotDone, Output, Progress, Unsure
from agentweb.engine.recovering import Recovery
from agentweb.engine.sentences import NOT_KNOWN
from tests.engine.fakes import ASK, FakePolicy, FakeTool, Shell, has, tool
from tests.engine.scripted_model import Says, call

APPROVE = DecisionKind.APPROVE


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


WROTE = "This call was interrupted. Ann has looked: it was done."


@pytest.mark.parametrize(
    ("outcome", "content", "kind", "text"),
    [
        (Resolution.DONE, "5 rows", ResultKind.ANSWERED, f"{WROTE}\n5 rows"),
        (Resolution.DONE, "", ResultKind.ANSWERED, WROTE),
        (Resolution.TELL_MODEL, "", ResultKind.UNKNOWN, NOT_KNOWN),
    ],
)
async def test_a_person_says_what_became_of_an_unknown_call(
    outcome: Resolution, content: str, kind: ResultKind, text: str
) -> None:
    used = tool("write")
    shell = await unknown(used)

    shell.settle("a", outcome, content)
    await shell.resume()

    result = shell.entry("a").result
    assert result is not None
    assert (result.kind, result.content) == (kind, text)
    assert shell.kinds[4] == "OutcomeSettled ToolFinished TurnFinished TurnStarted ModelRequested"
    assert used.runs == []


async def unknown(used: FakeTool, *seams: object, policy: FakePolicy | None = None) -> Shell:
    """A run that waits since its worker was lost in a call, after which the model has something to say."""
    shell = Shell(Says("", (call("a"),)), Says("Done"), tools=(used,), policy=policy, seams=seams or (Recovery(),))
    await shell.crash(has(ToolStarted))
    return await shell.resume()


async def test_a_call_that_was_not_done_runs_when_policy_allows_it() -> None:
    used = tool("write")
    shell = await unknown(used)

    shell.settle("a", Resolution.NOT_DONE)
    await shell.resume()

    assert shell.kinds[4] == "OutcomeSettled ToolStarted"
    assert [e.attempt for e in shell.events if isinstance(e, ToolStarted)] == [1, 2]
    assert len(used.runs) == 1
    assert isinstance(shell.events[-1], RunFinished)


async def test_a_call_that_was_not_done_is_asked_about_when_policy_asks_now() -> None:
    used = tool("write")
    shell = await unknown(used)
    shell.policy.rules["write"] = ASK

    shell.settle("a", Resolution.NOT_DONE)
    await shell.resume()

    assert shell.kinds[-2:] == ["OutcomeSettled", "ApprovalRequested RunPaused"]
    shell.decide("a", APPROVE)
    await shell.resume()
    assert len(used.runs) == 1


async def test_consent_to_a_call_that_was_lost_is_asked_for_again() -> None:
    used = tool("write")
    shell = await Shell(Says("", (call("a"),)), tools=(used,), policy=FakePolicy({"write": ASK})).go()
    shell.decide("a", APPROVE)
    shell.claim()
    await shell.crash(has(ToolStarted))
    await shell.resume()

    shell.settle("a", Resolution.NOT_DONE)
    await shell.resume()

    assert shell.kinds[-2:] == ["OutcomeSettled", "ApprovalRequested RunPaused"]
    assert used.runs == []


@pytest.mark.parametrize(
    ("finds", "kinds"),
    [
        (Done("5 rows"), "OutcomeSettled ToolFinished TurnFinished TurnStarted ModelRequested"),
        (NotDone(), "OutcomeSettled ToolStarted"),
        (Unsure(), "OutcomeUnknown RunPaused"),
        (OSError("no way"), "SeamFailed OutcomeUnknown RunPaused"),
    ],
)
async def test_the_tools_own_check_is_asked_before_a_person(finds: Finding | Exception, kinds: str) -> None:
    used = tool("write")
    used.finds = finds

    shell = await unknown(used)

    assert shell.kinds[3] == kinds
    assert shell.results().get("a") == {Done: "5 rows", NotDone: "did {}"}.get(type(finds))  # type: ignore[arg-type]


async def test_a_check_that_fails_is_named() -> None:
    used = tool("write")
    used.finds = OSError("no way")

    shell = await unknown(used)

    failure = next(event for event in shell.events if isinstance(event, SeamFailed))
    assert (failure.seam, failure.point, failure.error) == ("recovery", "recover", "OSError: no way")


async def test_a_cancel_breaks_a_check_off() -> None:
    class Slow:
        async def recover(self, *about: object) -> None:
            shell.controls.cancel()
            await asyncio.Event().wait()

    shell = Shell(Says("", (call("a"),)), tools=(tool("write"),), seams=(Slow(),))
    await shell.crash(has(ToolStarted))

    await shell.resume()

    assert shell.kinds[-1] == "ToolFinished TurnFinished RunFinished"
    assert shell.results() == {"a": "Cancelled by the user before it finished; part of its effect may have happened."}


async def test_without_recovery_a_run_whose_worker_was_lost_waits_for_a_person() -> None:
    used = tool("read", reads=True, repeatable=True)
    shell = Shell(Says("", (call("a", "read"),)), Says("Done"), tools=(used,), seams=())
    await shell.crash(has(ToolStarted))

    shell.setup = replace(shell.setup, lost=True)
    await shell.resume()

    assert shell.events[-1] == RunPaused((), shell.usage, lost=True)
    assert used.runs == []
    shell.setup = replace(shell.setup, lost=False)  # a person said that it goes on
    await shell.resume()
    assert len(used.runs) == 1
    assert isinstance(shell.events[-1], RunFinished)


async def test_a_run_that_was_cancelled_is_not_held_when_its_worker_is_lost() -> None:
    shell = Shell(Says("Hello", hangs=True), seams=())
    await shell.crash(lambda step: isinstance(step, Delta))
    shell.setup = replace(shell.setup, lost=True)
    shell.controls.cancel()

    await shell.resume()

    assert isinstance(shell.events[-1], RunFinished)


async def test_what_a_person_said_stands_in_the_record_of_a_run_that_is_cancelled() -> None:
    shell = await unknown(tool("write"))
    shell.settle("a", Resolution.DONE, "5 rows", comment="looked")
    shell.controls.cancel()

    await shell.resume()

    assert shell.results() == {"a": f"{WROTE}\n5 rows"}
    assert [event.comment for event in shell.events if isinstance(event, OutcomeSettled)] == ["looked"]


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
