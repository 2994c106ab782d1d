"""Turns, steering, follow-ups, limits and every way to end, as lists of recorded batches."""

import pytest

from agentweb.engine.closing import cancellation, failure
from agentweb.engine.enums import CallStatus, ErrorKind, Finish, Outcome, Purpose, Reason, ResultKind, StopAfter
from agentweb.engine.events import (
    Delta,
    FollowUpTaken,
    MessageFinished,
    ModelFault,
    Queued,
    RunFinished,
    SteeringTaken,
    Step,
    TurnStarted,
)
from agentweb.engine.messages import AssistantMessage, ToolResult, UserMessage
from agentweb.engine.ports import ModelError
from agentweb.engine.sentences import UNFINISHED
from agentweb.engine.usage import Limits, Usage
from tests.engine.fakes import ASK, FakePolicy, Shell, has, tool
from tests.engine.scripted_model import Says, call

BEGIN = "TurnStarted ModelRequested"
LAST = "MessageFinished TurnFinished RunFinished"


def finished(shell: Shell) -> RunFinished:
    last = shell.events[-1]
    assert isinstance(last, RunFinished)
    return last


async def test_an_answer_without_tools_is_recorded_in_two_batches() -> None:
    shell = await Shell(Says("Hello")).go()

    assert shell.kinds == [BEGIN, LAST]
    assert finished(shell) == RunFinished(
        Outcome.ANSWERED,
        Reason.DONE,
        "Answered.",
        Usage(turns=1, model_calls=1, input_tokens=10, output_tokens=5, seconds=1.0),
    )
    shell.model.done()


async def test_calls_one_after_the_other_cost_three_batches_each() -> None:
    script = [Says("", (call(f"c{n}", x=n),)) for n in range(5)]
    shell = await Shell(*script, Says("Done"), tools=(tool("write"),)).go()

    round_ = ["MessageFinished", "ToolStarted", f"ToolFinished TurnFinished {BEGIN}"]
    assert shell.kinds == [BEGIN, *round_ * 5, LAST]
    assert finished(shell).usage.turns == 6
    assert finished(shell).usage.tool_calls == 5
    assert shell.usage == finished(shell).usage


async def test_the_model_sees_each_result_right_behind_its_message() -> None:
    tools = (tool("write"), tool("read", reads=True))
    shell = await Shell(Says("Working", (call("a", x=1), call("b", "read"))), Says("Done"), tools=tools).go()

    question, said, first, second = shell.model.requests[1].messages
    assert isinstance(question, UserMessage)
    assert isinstance(said, AssistantMessage)
    assert [first, second] == [ToolResult("a", "did {'x': 1}"), ToolResult("b", "did {}")]
    assert shell.model.requests[1].system == "Be helpful"
    assert [spec.name for spec in shell.model.requests[1].tools] == ["write", "read"]


async def test_steering_is_delivered_before_the_next_model_call() -> None:
    shell = Shell(Says("", (call("a"),)), Says("Done"), tools=(tool("write"),))
    note = Queued("q1", "and be quick", "Ann")

    def steer(step: Step) -> None:
        if len(shell.batches) == 2 and isinstance(step, tuple):
            shell.inbox.steer.append(note)

    await shell.go(steer)

    assert shell.kinds[3] == "ToolFinished TurnFinished TurnStarted SteeringTaken ModelRequested"
    assert SteeringTaken(2, (note,)) in shell.events
    assert shell.model.requests[1].messages[-1] == UserMessage("q1", "and be quick", "Ann")


async def test_steering_that_arrives_with_the_answer_starts_another_turn() -> None:
    shell = Shell(Says("First"), Says("Second"))

    def steer(step: Step) -> None:
        if isinstance(step, Delta) and len(shell.live) == 1:
            shell.inbox.steer.append(Queued("q1", "wait"))

    await shell.go(steer)

    assert shell.kinds == [
        BEGIN,
        "MessageFinished TurnFinished TurnStarted SteeringTaken ModelRequested",
        LAST,
    ]


async def test_follow_ups_are_delivered_only_when_the_run_would_end() -> None:
    shell = Shell(Says("", (call("a"),)), Says("First"), Says("Second"), tools=(tool("write"),))
    shell.inbox.follow.append(Queued("q1", "then this"))

    await shell.go()

    assert [event.turn for event in shell.events if isinstance(event, FollowUpTaken)] == [3]
    assert shell.kinds[4] == "MessageFinished TurnFinished TurnStarted FollowUpTaken ModelRequested"
    assert finished(shell).outcome is Outcome.ANSWERED


async def test_follow_ups_are_taken_one_at_a_time_when_the_inbox_says_so() -> None:
    shell = Shell(Says("1"), Says("2"), Says("3"))
    shell.inbox.one_at_a_time = True
    shell.inbox.follow += [Queued("q1", "a"), Queued("q2", "b")]

    await shell.go()

    assert [[one.id for one in e.messages] for e in shell.events if isinstance(e, FollowUpTaken)] == [["q1"], ["q2"]]
    shell.model.done()


async def test_an_answer_that_was_refused_its_end_goes_on_with_the_message_that_came_in() -> None:
    shell = await Shell(Says("First"), Says("Second")).go()
    shell.batches[-1] = shell.batches[-1][:-1]
    shell.inbox.steer.append(Queued("q1", "one more thing"))

    await shell.resume()

    assert shell.kinds == [
        BEGIN,
        "MessageFinished TurnFinished",
        "TurnStarted SteeringTaken ModelRequested",
        LAST,
    ]


async def test_an_answer_that_was_refused_its_end_for_nothing_just_ends() -> None:
    shell = await Shell(Says("First")).go()
    shell.batches[-1] = shell.batches[-1][:-1]

    await shell.resume()

    assert shell.kinds == [BEGIN, "MessageFinished TurnFinished", "RunFinished"]


# --- limits -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turns", [1, 3])
async def test_at_the_turn_limit_the_model_sums_up_and_the_run_says_not_finished(turns: int) -> None:
    script = [Says("", (call(f"c{n}"),)) for n in range(turns)]
    shell = await Shell(*script, Says("So far so good"), tools=(tool("write"),), limits=Limits(max_turns=turns)).go()

    assert shell.kinds[-2:] == ["ToolFinished TurnFinished ModelRequested", "MessageFinished RunFinished"]
    assert shell.model.requests[-1].purpose is Purpose.WRAP_UP
    assert shell.transcript.messages[-1].text == "So far so good"
    end = finished(shell)
    assert (end.outcome, end.reason) == (Outcome.LIMIT_REACHED, Reason.TURNS)
    assert end.text == f"Not finished: the limit of {turns} turns was reached."
    assert end.usage.turns == turns
    assert end.usage.model_calls == turns + 1


@pytest.mark.parametrize(
    ("wrap_up", "text"),
    [
        (Says(error=ModelError(ErrorKind.RATE_LIMIT, "Too many", retryable=True)), UNFINISHED),
        (Says("Half a sen", error=ModelError(ErrorKind.CONNECTION, "Lost")), f"Half a sen\n\n{UNFINISHED}"),
        (Says(""), UNFINISHED),
        (Says("", (call("late"),)), UNFINISHED),
        (Says(silent=True), UNFINISHED),
        (Says("Summed up", (call("late"),)), "Summed up"),
    ],
    ids=["error", "error in the middle", "empty", "only calls", "no reply", "text and calls"],
)
async def test_a_wrap_up_never_fails_and_never_calls_tools(wrap_up: Says, text: str) -> None:
    writes = tool("write")
    shell = await Shell(Says("", (call("a"),)), wrap_up, tools=(writes,), limits=Limits(max_turns=1)).go()

    last = shell.transcript.messages[-1]
    assert isinstance(last, AssistantMessage)
    assert (last.text, last.calls, last.finish) == (text, (), Finish.STOP)
    assert "".join(d.text for d in shell.live if isinstance(d, Delta) and d.message == last.id) == text
    assert finished(shell).outcome is Outcome.LIMIT_REACHED
    assert len(writes.runs) == 1
    shell.model.done()


async def test_messages_that_wait_at_the_limit_are_left_to_their_authors() -> None:
    shell = Shell(Says("Answer"), limits=Limits(max_turns=1))
    shell.inbox.follow.append(Queued("q1", "more"))

    await shell.go()

    assert shell.kinds == [BEGIN, LAST]
    assert finished(shell).outcome is Outcome.LIMIT_REACHED
    assert shell.inbox.follow


async def test_what_was_spent_before_counts_toward_the_limit() -> None:
    shell = Shell(Says("", (call("a"),)), Says("Sum"), tools=(tool("write"),), limits=Limits(max_turns=1))
    await shell.crash(has(MessageFinished))

    await shell.resume()

    assert finished(shell).outcome is Outcome.LIMIT_REACHED
    assert [e.turn for e in shell.events if isinstance(e, TurnStarted)] == [1]


# --- stopping and cancelling --------------------------------------------------------------------------------------


async def test_stopped_after_reasoning_nothing_runs_and_each_call_is_closed() -> None:
    writes = tool("write")
    shell = Shell(Says("I will", (call("a"), call("b"))), tools=(writes,))
    shell.controls.stop_after = StopAfter.REASONING

    await shell.go()

    assert shell.kinds == [BEGIN, "MessageFinished", "ToolFinished ToolFinished TurnFinished RunFinished"]
    assert [entry.result.kind for entry in shell.transcript.calls.values() if entry.result] == [ResultKind.NOT_RUN] * 2
    assert shell.results()["a"] == "Not run: the run was stopped by the user before this call."
    assert (finished(shell).outcome, finished(shell).reason) == (Outcome.STOPPED, Reason.AFTER_REASONING)
    assert writes.runs == []


async def test_stopped_after_acting_all_results_are_there() -> None:
    shell = Shell(Says("", (call("a"), call("b"))), tools=(tool("write"),))
    shell.controls.stop_after = StopAfter.ACTING

    await shell.go()

    assert shell.kinds[-1] == "ToolFinished TurnFinished RunFinished"
    assert [entry.result.kind for entry in shell.transcript.calls.values() if entry.result] == [ResultKind.OK] * 2
    assert (finished(shell).outcome, finished(shell).reason) == (Outcome.STOPPED, Reason.AFTER_ACTING)


@pytest.mark.parametrize("stop_after", list(StopAfter))
async def test_a_stop_finds_an_answer_complete(stop_after: StopAfter) -> None:
    shell = Shell(Says("Answer"))
    shell.controls.stop_after = stop_after

    await shell.go()

    assert finished(shell).outcome is Outcome.ANSWERED


@pytest.mark.parametrize("stop_after", list(StopAfter))
async def test_a_stop_after_an_answer_does_not_begin_what_waits(stop_after: StopAfter) -> None:
    shell = Shell(Says("Answer"))
    shell.controls.stop_after = stop_after
    shell.inbox.follow.append(Queued("q1", "more"))

    await shell.go()

    assert finished(shell).outcome is Outcome.STOPPED
    assert shell.inbox.follow


@pytest.mark.parametrize("stop_after", list(StopAfter))
async def test_a_stop_ends_a_run_that_waits_for_people(stop_after: StopAfter) -> None:
    shell = await Shell(Says("", (call("a"),)), tools=(tool("write"),), policy=FakePolicy({"write": ASK})).go()
    shell.controls.stop_after = stop_after

    await shell.resume()

    assert shell.kinds[-1] == "ApprovalDecided ToolFinished TurnFinished RunFinished"
    assert finished(shell).outcome is Outcome.STOPPED
    assert shell.entry("a").status is CallStatus.CANCELLED


async def test_a_run_cancelled_before_it_starts_calls_no_model() -> None:
    shell = Shell()
    shell.controls.cancel()

    await shell.go()

    assert shell.kinds == ["RunFinished"]
    assert (finished(shell).outcome, finished(shell).reason) == (Outcome.CANCELLED, Reason.BY_PERSON)


async def test_a_cancel_closes_calls_that_wait_for_people() -> None:
    shell = await Shell(
        Says("", (call("a"), call("b"))), tools=(tool("write"),), policy=FakePolicy({"write": ASK})
    ).go()

    batch = cancellation(shell.transcript, shell.usage)

    kinds = [type(event).__name__ for event in batch]
    assert kinds == [*["ApprovalDecided", "ToolFinished"] * 2, "TurnFinished", "RunFinished"]


# --- errors of our own side ---------------------------------------------------------------------------------------


async def test_an_error_of_a_port_comes_out_after_what_had_happened_was_recorded() -> None:
    shell = Shell(Says("", (call("a"),)), tools=(tool("write"),))

    async def broken() -> tuple[Queued, ...]:
        raise RuntimeError("no database")

    def break_inbox(step: Step) -> None:
        if has(MessageFinished)(step):
            shell.inbox.steering = broken  # type: ignore[method-assign]

    with pytest.raises(RuntimeError, match="no database"):
        await shell.go(break_inbox)

    assert shell.kinds[-1] == "ToolFinished TurnFinished"
    assert shell.entry("a").status is CallStatus.FINISHED


async def test_a_failed_run_is_closed_from_what_was_recorded() -> None:
    shell = Shell(Says("", (call("a"), call("b"))), tools=(tool("write"),), policy=FakePolicy(error=RuntimeError("x")))
    with pytest.raises(RuntimeError):
        await shell.go()
    fault = ModelFault(ErrorKind.INTERNAL, "x")

    shell.record(failure(shell.rebuilt(), shell.usage, fault))

    assert shell.kinds[-1] == "ToolFinished ToolFinished TurnFinished RunFinished"
    assert (finished(shell).outcome, finished(shell).reason) == (Outcome.FAILED, Reason.INTERNAL)
    assert finished(shell).error == fault
    assert shell.rebuilt().open_calls() == ()


async def test_a_failed_run_closes_the_message_that_was_streaming() -> None:
    shell = Shell(Says("Hello", hangs=True))
    await shell.crash(lambda step: isinstance(step, Delta))

    batch = failure(shell.rebuilt(), shell.usage, ModelFault(ErrorKind.INTERNAL, "gone"), Reason.ATTEMPTS)

    assert [type(event).__name__ for event in batch] == ["MessageInterrupted", "TurnFinished", "RunFinished"]
