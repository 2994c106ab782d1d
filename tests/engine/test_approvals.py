"""Asking people and taking up what they decide."""

from dataclasses import replace

import pytest

from agentweb.engine.digest import call_digest
from agentweb.engine.enums import ApprovalStatus, CallStatus, DecisionKind, Outcome, ResultKind, Risk
from agentweb.engine.events import (
    ApprovalDecided,
    ApprovalRequested,
    RunFinished,
    RunPaused,
    ToolStarted,
)
from agentweb.engine.messages import ToolCall, ToolResult
from agentweb.engine.ports import Allow, Ask, Deny, Preview, ToolError, Verdict
from agentweb.engine.sentences import NO_PREVIEW
from agentweb.engine.terms import Consent, Terms
from tests.engine.fakes import ASK, FakePolicy, FakeTool, Shell, has, tool
from tests.engine.scripted_model import Says, call

APPROVE, MODIFY, REJECT, RESPOND = DecisionKind


async def paused(*calls: ToolCall, used: FakeTool | None = None, verdict: Verdict = ASK, more: bool = True) -> Shell:
    """A run that has asked about its calls."""
    script = [Says("", calls), *([Says("Done")] if more else [])]
    shell = Shell(
        *script, tools=(used or tool("write"), tool("read", reads=True)), policy=FakePolicy({"write": verdict})
    )
    return await shell.go()


def runs(shell: Shell) -> list[dict[str, object]]:
    return [dict(one) for one in shell.tools.tools["write"].runs]


async def test_a_run_that_asks_pauses_and_runs_nothing() -> None:
    shell = await paused(call("a", x=1))

    assert shell.kinds[-1] == "ApprovalRequested RunPaused"
    assert shell.approval("a") == ApprovalRequested(
        approval="n2",
        call="a",
        name="write",
        arguments={"x": 1},
        risk=Risk.MEDIUM,
        digest=call_digest({"x": 1}, "write-1", "medium asks"),
        rule="medium asks",
        definition="write-1",
    )
    assert runs(shell) == []


async def test_all_calls_that_need_a_person_are_asked_about_at_once() -> None:
    shell = await paused(call("a"), call("r", "read"), call("b"), call("c"))

    assert [e.call for e in shell.batches[2] if isinstance(e, ApprovalRequested)] == ["a", "b", "c"]
    assert [e.call for e in shell.batches[2] if isinstance(e, ToolStarted)] == ["r"]
    assert isinstance(shell.events[-1], RunPaused)
    assert shell.events[-1].calls == ("a", "b", "c")


async def test_an_approved_call_runs_as_shown() -> None:
    shell = await paused(call("a", x=1))
    shell.decide("a", APPROVE, comment="fine")

    await shell.resume()

    assert shell.kinds[3] == "ApprovalDecided ToolStarted"
    assert shell.batches[3][0] == ApprovalDecided(
        "n2", "a", ApprovalStatus.APPROVED, APPROVE, "Ann", "fine", arguments={"x": 1}
    )
    assert shell.batches[3][1] == ToolStarted("a", "write", {"x": 1}, "medium asks", 1)
    assert shell.results() == {"a": "did {'x': 1}"}


async def test_changed_arguments_run_and_the_model_is_told() -> None:
    shell = await paused(call("a", x=1))
    shell.decide("a", MODIFY, arguments={"x": 2})

    await shell.resume()

    assert runs(shell) == [{"x": 2}]
    assert shell.results() == {"a": "(Run with arguments changed by Ann: {\"x\":2})\ndid {'x': 2}"}
    assert shell.entry("a").call.arguments == {"x": 1}
    decided = shell.batches[3][0]
    assert isinstance(decided, ApprovalDecided)
    assert (decided.status, decided.arguments) == (ApprovalStatus.MODIFIED, {"x": 2})


@pytest.mark.parametrize(
    ("kind", "fields", "result", "status"),
    [
        (
            REJECT,
            {"comment": "too risky"},
            ToolResult("a", "Not run: rejected by Ann: too risky", ResultKind.REJECTED),
            CallStatus.REJECTED,
        ),
        (
            REJECT,
            {},
            ToolResult("a", "Not run: rejected by Ann, who gave no reason.", ResultKind.REJECTED),
            CallStatus.REJECTED,
        ),
        (
            RESPOND,
            {"response": "It is 42."},
            ToolResult("a", "Answered by Ann in place of the tool: It is 42.", ResultKind.ANSWERED),
            CallStatus.FINISHED,
        ),
    ],
    ids=["rejected", "rejected without a reason", "answered"],
)
async def test_a_refused_or_answered_call_never_runs(
    kind: DecisionKind, fields: dict[str, str], result: ToolResult, status: CallStatus
) -> None:
    shell = await paused(call("a"))
    shell.decide("a", kind, **fields)

    await shell.resume()

    assert shell.kinds[3] == "ApprovalDecided ToolFinished TurnFinished TurnStarted ModelRequested"
    assert (shell.entry("a").result, shell.entry("a").status) == (result, status)
    assert runs(shell) == []


async def test_two_of_three_decided_the_third_keeps_the_run_waiting_through_a_restart() -> None:
    shell = await paused(call("a"), call("b"), call("c"))
    shell.decide("a", APPROVE)
    shell.decide("c", REJECT)

    await shell.resume()

    assert isinstance(pause := shell.events[-1], RunPaused)
    assert pause.calls == ("b",)
    shell.decide("b", APPROVE)
    await shell.resume()
    sent = [one for one in shell.model.requests[-1].messages if isinstance(one, ToolResult)]
    assert [(one.call, one.kind) for one in sent] == [
        ("a", ResultKind.OK),
        ("b", ResultKind.OK),
        ("c", ResultKind.REJECTED),
    ]


async def test_an_approved_write_keeps_its_place_behind_one_that_waits() -> None:
    shell = await paused(call("a", n=1), call("b", n=2))
    shell.decide("b", APPROVE)
    await shell.resume()

    assert shell.kinds[-1] == "ApprovalDecided RunPaused"
    assert runs(shell) == []
    assert isinstance(pause := shell.events[-1], RunPaused)
    assert pause.calls == ("a",)

    shell.decide("a", APPROVE)
    await shell.resume()

    assert runs(shell) == [{"n": 1}, {"n": 2}]
    assert len([e for e in shell.events if isinstance(e, ApprovalDecided)]) == 2


async def test_calls_that_ran_before_the_pause_do_not_run_again() -> None:
    free = FakePolicy({"write": lambda one: ASK if one.id == "b" else Allow("free")})
    used = tool("write")
    shell = await Shell(Says("", (call("a"), call("b"))), Says("Done"), tools=(used,), policy=free).go()
    shell.decide("b", APPROVE)

    await shell.resume()

    assert [e.call for e in shell.events if isinstance(e, ToolStarted)] == ["a", "b"]
    assert len(used.runs) == 2


# --- a decision binds to what was shown ---------------------------------------------------------------------------


def by_amount(one: ToolCall) -> Verdict:
    amount = (one.arguments or {})["x"]
    if amount > 100:
        return Deny("too much", "Too much.")
    return Ask("large", Risk.HIGH) if amount > 10 else ASK


@pytest.mark.parametrize(
    ("changed", "kinds"),
    [
        (2, "ApprovalDecided ToolStarted"),
        (50, "ApprovalDecided ApprovalRequested RunPaused"),
        (500, "ApprovalDecided ToolFinished TurnFinished TurnStarted ModelRequested"),
    ],
    ids=["same rule", "stricter rule", "denied"],
)
async def test_changed_arguments_are_judged_again(changed: int, kinds: str) -> None:
    shell = await paused(call("a", x=1))
    shell.policy.rules["write"] = by_amount
    shell.decide("a", MODIFY, arguments={"x": changed})

    await shell.resume()

    assert shell.kinds[3] == kinds
    if changed == 50:
        assert shell.approval("a").arguments == {"x": 50}
        shell.decide("a", APPROVE)
        await shell.resume()
        assert runs(shell) == [{"x": 50}]
        assert shell.results()["a"].startswith('(Run with arguments changed by Ann: {"x":50})')


async def test_changed_arguments_are_checked_again() -> None:
    shell = await paused(call("a", x=1))
    shell.decide("a", MODIFY, arguments={"bad": 1})

    await shell.resume()

    assert shell.results() == {"a": "Not run: the arguments, as changed by Ann, are not valid.\n- bad is unknown"}
    assert runs(shell) == []


async def test_a_call_found_in_the_text_is_never_run_without_a_person() -> None:
    shell = await paused(replace(call("a"), recovered=True), verdict=Allow("low runs"))

    assert shell.kinds[-1] == "ApprovalRequested RunPaused"
    assert shell.approval("a").risk is Risk.HIGH

    shell.decide("a", APPROVE)
    await shell.resume()
    assert runs(shell) == [{}]


async def test_an_approved_call_whose_tool_is_gone_says_so() -> None:
    shell = await paused(call("a"))
    shell.decide("a", APPROVE)
    del shell.tools.tools["write"]

    await shell.resume()

    assert shell.results() == {"a": "There is no tool named 'write'. Available tools: read."}


async def test_a_call_that_nobody_decided_in_time_is_expired_not_rejected() -> None:
    shell = await paused(call("a"))
    shell.transcript.calls["a"] = replace(shell.entry("a"), expired=True)

    await shell.go()

    assert shell.batches[3][0] == ApprovalDecided("n2", "a", ApprovalStatus.EXPIRED)
    assert shell.entry("a").status is CallStatus.EXPIRED
    assert shell.entry("a").result == ToolResult(
        "a", "Not run: nobody decided about this call in time.", ResultKind.EXPIRED
    )


# --- cards --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("shows", "effect", "preview"),
    [
        (None, "", None),
        (Preview("Writes a file"), "Writes a file", None),
        (
            Preview("Changes a.txt", "diff", {"lines": ["+x"]}),
            "Changes a.txt",
            {"kind": "diff", "data": {"lines": ["+x"]}},
        ),
        (ToolError("There is no such file."), "There is no such file.", None),
        (ValueError("bug"), NO_PREVIEW, {"kind": "failed", "data": {}}),
    ],
    ids=["none", "effect", "diff", "tool error", "bug"],
)
async def test_the_card_shows_what_the_call_would_do(
    shows: Preview | Exception | None, effect: str, preview: dict[str, object] | None
) -> None:
    used = tool("write")
    used.shows = shows
    shell = await paused(call("a"), used=used, more=False)

    assert (shell.approval("a").effect, shell.approval("a").preview) == (effect, preview)


async def test_a_cancel_after_a_decision_runs_nothing() -> None:
    shell = await paused(call("a"), call("b"), more=False)
    shell.decide("a", APPROVE)
    shell.controls.cancel()

    await shell.resume()

    decided = [event.status for event in shell.events if isinstance(event, ApprovalDecided)]
    assert decided == [ApprovalStatus.APPROVED, ApprovalStatus.CANCELLED]
    assert isinstance(end := shell.events[-1], RunFinished)
    assert end.outcome is Outcome.CANCELLED
    assert runs(shell) == []


async def test_a_crash_after_the_approved_start_keeps_the_approval_of_a_repeatable_tool() -> None:
    used = tool("write", repeatable=True)
    shell = await paused(call("a", x=1), used=used)
    shell.decide("a", MODIFY, arguments={"x": 2})
    shell.claim()
    await shell.crash(has(ToolStarted))

    await shell.resume()

    started = [event for event in shell.events if isinstance(event, ToolStarted)]
    assert [(one.arguments, one.attempt) for one in started] == [({"x": 2}, 1), ({"x": 2}, 2)]
    assert len([e for e in shell.events if isinstance(e, ApprovalDecided)]) == 1
    assert shell.results() == {"a": "(Run with arguments changed by Ann: {\"x\":2})\ndid {'x': 2}"}


async def test_the_terms_of_the_rule_are_recorded_with_the_ask() -> None:
    shell = await paused(call("a"), verdict=replace(ASK, terms=Terms(wait_minutes=5)))

    assert shell.approval("a").terms == Terms(wait_minutes=5)


async def test_all_who_had_to_agree_are_recorded() -> None:
    shell = await paused(call("a"))
    agreed = (Consent("Ann", "2026-01-01T08:00:00+00:00"), Consent("Ben", "2026-01-01T09:00:00+00:00", "fine"))
    shell.decide("a", APPROVE, consents=agreed)

    await shell.resume()

    decided = next(event for event in shell.events if isinstance(event, ApprovalDecided))
    assert decided.consents == agreed


async def test_the_time_in_which_a_run_waits_for_people_is_not_counted_as_its_own() -> None:
    at_once, later = await paused(call("a")), await paused(call("a"))
    later.pass_time(3_600)
    for shell in (at_once, later):
        shell.decide("a", APPROVE)
        await shell.resume()

    assert later.usage.seconds == at_once.usage.seconds > 0
