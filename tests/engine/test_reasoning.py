"""One model call: what is streamed, how it is broken off, and how it is tried again."""

import asyncio

import pytest

from agentweb.engine.enums import DeltaKind, ErrorKind, Finish, Outcome, Reason
from agentweb.engine.events import (
    Delta,
    MessageFinished,
    MessageInterrupted,
    ModelRequested,
    ModelRetried,
    Queued,
    RunFinished,
)
from agentweb.engine.messages import AssistantMessage, UserMessage
from agentweb.engine.ports import ModelError
from agentweb.engine.transcript import Transcript
from agentweb.engine.usage import Limits, Usage
from tests.engine.fakes import Shell, has, tool
from tests.engine.scripted_model import Says, call

BUSY = ModelError(ErrorKind.RATE_LIMIT, "The model server is busy.", retryable=True)
BEGIN = "TurnStarted ModelRequested"
AGAIN = ["MessageInterrupted ModelRetried", "ModelRequested"]
LAST = "MessageFinished TurnFinished RunFinished"


async def test_deltas_count_code_points_and_add_up_to_the_message() -> None:
    shell = await Shell(Says("Grüße 🙂, 世界!", thinking="Hm, 🙂🙂")).go()

    message = shell.transcript.messages[-1]
    assert isinstance(message, AssistantMessage)
    for kind, whole in ((DeltaKind.TEXT, message.text), (DeltaKind.THINKING, message.thinking)):
        deltas = [one for one in shell.live if isinstance(one, Delta) and one.kind is kind]
        assert "".join(one.text for one in deltas) == whole
        assert all(whole[one.offset :].startswith(one.text) for one in deltas)
        assert {one.message for one in deltas} == {message.id}


async def test_the_request_is_recorded_before_its_first_delta() -> None:
    shell = Shell(Says("Hello"))
    seen: list[str] = []

    await shell.go(lambda step: seen.append("batch" if isinstance(step, tuple) else "delta"))

    assert seen == ["batch", "delta", "delta", "batch"]
    assert shell.events[1] == ModelRequested("n1", 1, 1, "scripted", "d1")


async def test_a_message_costs_what_the_server_reports_and_the_time_it_took() -> None:
    shell = await Shell(Says("Hello", usage=Usage(turns=9, model_calls=9, input_tokens=7, output_tokens=3))).go()

    (finished,) = (event for event in shell.events if isinstance(event, MessageFinished))
    assert finished.usage == Usage(input_tokens=7, output_tokens=3, seconds=1.0)


async def test_a_call_that_broke_off_is_taken_to_have_cost_what_was_seen_of_it_and_nothing_if_nothing_was() -> None:
    shell = await Shell(Says("Half", error=BUSY), Says(error=BUSY), Says("Whole")).go()

    interrupted = [event.usage for event in shell.events if isinstance(event, MessageInterrupted)]
    assert [(one.input_tokens, one.output_tokens, one.estimated_calls) for one in interrupted] == [
        (10, 4, 1),
        (0, 0, 0),
    ]
    assert (shell.usage.input_tokens, shell.usage.output_tokens, shell.usage.estimated_calls) == (20, 9, 1)


async def test_a_cancel_in_the_middle_keeps_the_text_and_drops_the_calls() -> None:
    shell = Shell(Says("Hello world", (call("a"),), hangs=True), tools=(tool("write"),))

    await asyncio.wait_for(
        shell.go(lambda step: shell.controls.cancel() if isinstance(step, Delta) and step.offset else None), 20
    )

    assert shell.kinds == [BEGIN, LAST]
    message = shell.transcript.messages[-1]
    assert isinstance(message, AssistantMessage)
    assert (message.text, message.finish, message.calls) == ("Hello wo", Finish.CANCELLED, ())
    assert isinstance(end := shell.events[-1], RunFinished)
    assert end.outcome is Outcome.CANCELLED
    shell.model.done()


async def test_a_cancel_before_the_first_byte_leaves_nothing_to_send_again() -> None:
    shell = Shell(Says(hangs=True))
    running = asyncio.create_task(shell.go())
    while not shell.model.requests:
        await asyncio.sleep(0)

    shell.controls.cancel()
    await asyncio.wait_for(running, 20)

    assert shell.kinds == [BEGIN, LAST]
    assert shell.transcript.history() == (UserMessage("u1", "Do it", "Ann"),)
    shell.model.done()


async def test_a_failed_call_is_tried_again_as_a_new_message_of_the_same_turn() -> None:
    shell = await Shell(Says("Half", (call("a"),), error=BUSY), Says(error=BUSY), Says("Whole")).go()

    assert shell.kinds == [BEGIN, *AGAIN, *AGAIN, LAST]
    requested = [event for event in shell.events if isinstance(event, ModelRequested)]
    assert [(one.turn, one.attempt) for one in requested] == [(1, 1), (1, 2), (1, 3)]
    assert len({one.message for one in requested}) == 3
    interrupted = [event for event in shell.events if isinstance(event, MessageInterrupted)]
    assert [(one.message, one.text) for one in interrupted] == [("n1", "Half"), ("n2", "")]
    assert shell.transcript.calls == {}
    assert shell.usage.turns == 1
    assert shell.usage.model_calls == 3
    assert [one.wait for one in shell.events if isinstance(one, ModelRetried)] == shell.slept == [0.5, 1.0]


async def test_the_context_of_another_attempt_holds_nothing_of_the_interrupted_one() -> None:
    shell = await Shell(Says("Half", error=BUSY), Says("Whole")).go()

    assert shell.model.requests[1].messages == shell.model.requests[0].messages


@pytest.mark.parametrize(
    ("asked", "waited"), [(7.0, 7.0), (-1.0, 0.0), (9999.0, 120.0), (None, 0.5)], ids=["asked", "past", "long", "none"]
)
async def test_the_wait_follows_the_server_within_bounds(asked: float | None, waited: float) -> None:
    error = ModelError(ErrorKind.RATE_LIMIT, "Busy", retryable=True, retry_after_s=asked)
    shell = await Shell(Says(error=error), Says("ok")).go()

    assert shell.slept == [waited]


async def test_waits_double_up_to_a_cap() -> None:
    limits = Limits(model_attempts=6, retry_base_s=1, retry_cap_s=5)
    shell = await Shell(*[Says(error=BUSY)] * 5, Says("ok"), limits=limits).go()

    assert shell.slept == [1, 2, 4, 5, 5]


@pytest.mark.parametrize(
    ("error", "calls"),
    [(BUSY, 4), (ModelError(ErrorKind.AUTH, "The key is refused."), 1)],
    ids=["tried often enough", "no use trying again"],
)
async def test_a_model_that_stays_broken_fails_the_run_with_its_sentence(error: ModelError, calls: int) -> None:
    shell = await Shell(*[Says("Half", error=error)] * calls).go()

    assert shell.kinds == [BEGIN, *AGAIN * (calls - 1), "MessageInterrupted TurnFinished RunFinished"]
    end = shell.events[-1]
    assert isinstance(end, RunFinished)
    assert (end.outcome, end.reason, end.text) == (Outcome.FAILED, Reason.MODEL_ERROR, error.message)
    assert end.error is not None
    assert end.error.kind is error.kind
    shell.model.done()


@pytest.mark.parametrize(
    ("says", "kind"),
    [
        (Says(""), ErrorKind.EMPTY_RESPONSE),
        (Says("  \n"), ErrorKind.EMPTY_RESPONSE),
        (Says(thinking="Hm"), ErrorKind.EMPTY_RESPONSE),
        (Says("Half", silent=True), ErrorKind.STREAM_INTERRUPTED),
    ],
    ids=["empty", "blank", "only thinking", "no end"],
)
async def test_a_reply_that_says_nothing_is_asked_for_again(says: Says, kind: ErrorKind) -> None:
    shell = await Shell(says, Says("Now")).go()

    assert [e.error.kind for e in shell.events if isinstance(e, ModelRetried)] == [kind]
    assert shell.transcript.messages[-1].text == "Now"


async def test_a_cancel_ends_the_wait_for_another_attempt() -> None:
    shell = Shell(Says(error=BUSY))

    async def forever(seconds: float) -> None:
        shell.controls.cancel()
        await asyncio.Event().wait()

    object.__setattr__(shell.setup, "sleep", forever)
    await asyncio.wait_for(shell.go(), 20)

    assert shell.kinds == [BEGIN, AGAIN[0], "TurnFinished RunFinished"]


async def test_steering_is_looked_at_before_another_attempt_too() -> None:
    shell = Shell(Says(error=BUSY), Says("ok"))
    steer = Queued("q1", "hurry")

    await shell.go(lambda step: shell.inbox.steer.append(steer) if has(ModelRetried)(step) else None)

    assert shell.kinds == [BEGIN, AGAIN[0], "SteeringTaken ModelRequested", LAST]


async def test_a_request_that_cannot_be_built_fails_like_a_call() -> None:
    shell = Shell()
    shell.model.refuses = ModelError(ErrorKind.CONTEXT_LENGTH, "The conversation is too long.")

    await shell.go()

    assert shell.kinds == [BEGIN, "MessageInterrupted TurnFinished RunFinished"]


async def test_an_error_that_no_model_should_raise_comes_out_after_the_text_was_kept() -> None:
    shell = Shell(Says("Half", error=RuntimeError("bug")))

    with pytest.raises(RuntimeError, match="bug"):
        await shell.go()

    assert shell.kinds == [BEGIN, "MessageInterrupted"]
    assert shell.rebuilt().streaming == ""


async def test_a_truncated_answer_is_an_answer() -> None:
    shell = await Shell(Says("As far as it goes", finish=Finish.LENGTH)).go()

    message = shell.transcript.messages[-1]
    assert isinstance(message, AssistantMessage)
    assert message.finish is Finish.LENGTH
    assert shell.kinds[-1] == LAST


async def test_a_closed_generator_closes_the_model_stream() -> None:
    shell = Shell(Says("Hello", hangs=True))

    await shell.crash(lambda step: isinstance(step, Delta))

    shell.model.done()


def test_a_transcript_without_messages_has_no_history() -> None:
    transcript = Transcript()

    assert (transcript.history(), transcript.open_calls(), transcript.answered, transcript.acted) == (
        (),
        (),
        False,
        False,
    )
