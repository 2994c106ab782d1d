"""A run that repeats itself: the model is told, then people are asked, then the run is wrapped up."""

from dataclasses import replace

from agentweb.engine.closing import cancellation
from agentweb.engine.enums import (
    ApprovalStatus,
    CallStatus,
    DecisionKind,
    NoteKind,
    Outcome,
    Purpose,
    Reason,
    StopAfter,
)
from agentweb.engine.events import NoteAdded, QuestionAsked, QuestionDecided, Queued, RunFinished, RunPaused
from agentweb.engine.messages import UserMessage
from agentweb.engine.usage import Limits
from tests.engine.fakes import Shell, tool
from tests.engine.scripted_model import Says, call

ROUND = 3


def again(turns: int, first: int = 0) -> list[Says]:
    return [Says("", (call(f"c{first + n}", "look", at="a"),)) for n in range(turns)]


def shell(*script: Says, turns: int = 30, **fields) -> Shell:
    return Shell(*script, tools=(tool("look", reads=True),), limits=Limits(max_turns=turns), **fields)


def notes(shell: Shell) -> list[tuple[NoteKind, str]]:
    return [(event.about, event.text) for event in shell.events if isinstance(event, NoteAdded)]


def end(shell: Shell) -> RunFinished:
    last = shell.events[-1]
    assert isinstance(last, RunFinished)
    return last


async def asking() -> Shell:
    """A run that was told once, went on in the same way, and asks people now."""
    return await shell(*again(2 * ROUND)).go()


async def test_the_model_is_told_to_change_its_method_and_may_do_so() -> None:
    run = await shell(*again(ROUND), Says("", (call("d", "look", at="b"),)), Says("Found")).go()

    assert [about for about, _text in notes(run)] == [NoteKind.CIRCLES]
    assert 'look {"at":"a"}' in notes(run)[0][1]
    told = run.model.requests[ROUND].messages[-1]
    assert isinstance(told, UserMessage)
    assert (told.about, told.text) == notes(run)[0]
    assert run.kinds[9] == "ToolFinished TurnFinished TurnStarted NoteAdded ModelRequested"
    assert end(run).outcome is Outcome.ANSWERED


async def test_people_are_asked_when_that_did_not_help() -> None:
    run = await asking()

    assert run.kinds[-1] == "ToolFinished TurnFinished QuestionAsked RunPaused"
    asked, paused = run.events[-2:]
    assert isinstance(asked, QuestionAsked)
    assert isinstance(paused, RunPaused)
    assert asked.facts == {"sign": "same_call", "name": "look", "arguments": {"at": "a"}}
    assert (paused.question, paused.calls) == (asked.approval, ())
    assert run.usage.turns == 2 * ROUND
    run.model.done()


async def test_a_question_that_nobody_has_answered_keeps_the_run_waiting() -> None:
    run = await asking()
    before = len(run.events)
    await run.resume()
    assert [type(event) for event in run.events[before:]] == [RunPaused]
    assert run.transcript.at_rest


async def test_a_person_lets_it_go_on_and_the_model_reads_what_they_say() -> None:
    run = await asking()
    run.model.script += [Says("", (call("d", "look", at="b"),)), Says("Found")]
    run.say(DecisionKind.APPROVE, comment="try b")
    await run.resume()

    decided = next(event for event in run.events if isinstance(event, QuestionDecided))
    assert (decided.status, decided.by, decided.arguments) == (ApprovalStatus.APPROVED, "Ann", {})
    assert run.kinds[-6] == "QuestionDecided NoteAdded"
    assert notes(run)[-1] == (NoteKind.ALLOWED, notes(run)[-1][1])
    assert notes(run)[-1][1].endswith("They say: try b")
    assert end(run).outcome is Outcome.ANSWERED


async def test_it_is_wrapped_up_when_it_goes_on_in_circles_after_that() -> None:
    run = await asking()
    run.model.script += [*again(ROUND, first=6), Says("This much is done")]
    run.say(DecisionKind.APPROVE)
    await run.resume()

    assert run.model.requests[-1].purpose is Purpose.WRAP_UP
    assert (end(run).outcome, end(run).reason) == (Outcome.LIMIT_REACHED, Reason.CIRCLES)
    run.model.done()


async def test_a_person_who_says_no_has_it_wrapped_up() -> None:
    run = await asking()
    run.model.script.append(Says("This much is done"))
    run.say(DecisionKind.REJECT, comment="enough")
    await run.resume()

    assert run.kinds[-3:] == ["QuestionDecided", "ModelRequested", "MessageFinished RunFinished"]
    assert run.model.requests[-1].purpose is Purpose.WRAP_UP
    assert (end(run).outcome, end(run).reason) == (Outcome.LIMIT_REACHED, Reason.CIRCLES)


async def test_a_worker_that_is_lost_in_the_wrap_up_begins_it_again() -> None:
    run = await asking()
    run.say(DecisionKind.REJECT)
    run.model.script += [Says("This"), Says("This much is done")]
    run.claim()
    await run.crash(lambda step: run.kinds[-1] == "ModelRequested")
    run.model.requests.clear()
    await run.resume()

    assert [request.purpose for request in run.model.requests] == [Purpose.WRAP_UP]
    assert end(run).reason is Reason.CIRCLES
    assert sum(isinstance(event, QuestionDecided) for event in run.events) == 1


async def test_a_message_of_a_person_begins_the_ladder_anew() -> None:
    run = shell(*again(2 * ROUND), Says("Found"))
    message = Queued("q", "Look again", "Ann")
    await run.go(lambda step: run.inbox.steer.append(message) if len(run.batches) == 15 else None)

    assert [about for about, _text in notes(run)] == [NoteKind.CIRCLES]
    assert end(run).outcome is Outcome.ANSWERED


async def test_a_run_that_is_cancelled_withdraws_its_question() -> None:
    run = await asking()
    run.claim()
    run.record(cancellation(run.transcript, run.usage))

    withdrawn = run.events[-2]
    assert isinstance(withdrawn, QuestionDecided)
    assert withdrawn.status is ApprovalStatus.CANCELLED
    assert all(entry.status is CallStatus.FINISHED for entry in run.rebuilt().calls.values())


async def test_a_person_may_stop_a_run_that_asks() -> None:
    run = await asking()
    run.controls.stop_after = StopAfter.REASONING
    await run.resume()

    assert [type(event) for event in run.events[-2:]] == [QuestionDecided, RunFinished]
    assert end(run).outcome is Outcome.STOPPED


async def test_an_agent_may_be_left_to_repeat_itself() -> None:
    run = shell(*again(8), Says("Found"))
    run.setup = replace(run.setup, guard=False)
    await run.go()
    assert notes(run) == []
    assert end(run).outcome is Outcome.ANSWERED
