"""A run whose context becomes too long: it is folded, on record, and the model goes on."""

from dataclasses import replace
from decimal import Decimal

from agentweb.engine.budgets import Budget, Grant
from agentweb.engine.context import Folding
from agentweb.engine.enums import DecisionKind, ErrorKind, NoteKind, Outcome, Purpose, Reason, Strategy, Unit
from agentweb.engine.events import (
    ContextFolded,
    ModelRequested,
    QuestionAsked,
    QuestionDecided,
    RunFinished,
    SummaryRequested,
)
from agentweb.engine.messages import UserMessage
from agentweb.engine.ports import ModelError
from agentweb.engine.usage import Limits, Usage
from tests.engine.fakes import Shell, has, tool
from tests.engine.scripted_model import Says, ScriptedTestModel, call

TOO_LONG = ModelError(ErrorKind.CONTEXT_LENGTH, "The context is too long.")
LAST = "MessageFinished TurnFinished RunFinished"
SILENT = Usage(output_tokens=5)  # a server that counts no input, so that lengths decide


def shell(turns: int, folding: Folding, *then: Says) -> Shell:
    """A model that has called a tool in so many turns, and what it says after that."""
    script = [Says("x" * 350, (call(f"c{n}", x=n),), usage=SILENT) for n in range(turns)]
    run = Shell(*script, *then, tools=(tool("write"),), limits=Limits(max_turns=30))
    run.setup = replace(run.setup, folding=folding)
    return run


def folds(run: Shell) -> list[ContextFolded]:
    return [event for event in run.events if isinstance(event, ContextFolded)]


def end(run: Shell) -> tuple[Outcome, Reason]:
    last = run.events[-1]
    assert isinstance(last, RunFinished)
    return last.outcome, last.reason


async def test_what_is_too_long_is_left_out_before_the_model_is_asked() -> None:
    run = await shell(9, Folding(keep=3, size=1_000), Says("Done")).go()

    (folded,) = folds(run)
    place = run.kinds.index("ToolFinished TurnFinished TurnStarted ContextFolded ModelRequested")
    assert place > 0
    assert folded.text.startswith(f"({len(folded.messages)} older messages of this conversation are left out")
    assert folded.before > 900 > folded.after
    asked = run.model.requests[-1].messages
    assert [message.text for message in asked if isinstance(message, UserMessage)] == ["Do it", folded.text]
    assert end(run) == (Outcome.ANSWERED, Reason.DONE)


async def test_a_context_that_the_server_finds_too_long_is_folded_and_tried_once_more() -> None:
    run = await shell(5, Folding(keep=2), Says(error=TOO_LONG), Says("Done")).go()

    assert run.kinds[-3:] == ["MessageInterrupted ModelRetried", "ContextFolded ModelRequested", LAST]
    assert len(folds(run)) == 1
    assert len(run.model.requests[-1].messages) < len(run.model.requests[-2].messages)
    assert run.slept == [0.0]
    assert end(run) == (Outcome.ANSWERED, Reason.DONE)


async def test_the_second_time_the_run_fails_with_what_the_server_says() -> None:
    run = await shell(5, Folding(keep=2), Says(error=TOO_LONG), Says(error=TOO_LONG)).go()
    assert len(folds(run)) == 1
    assert end(run) == (Outcome.FAILED, Reason.MODEL_ERROR)


async def test_a_question_that_is_too_long_by_itself_cannot_be_folded() -> None:
    run = await shell(0, Folding(), Says(error=TOO_LONG)).go()
    assert folds(run) == []
    assert end(run) == (Outcome.FAILED, Reason.MODEL_ERROR)


async def test_a_model_sums_up_and_that_is_paid_for_and_sent_from_then_on() -> None:
    sums_up = Says("We did a, b and c.", usage=Usage(input_tokens=400, output_tokens=20, cost=Decimal("0.5")))
    run = await shell(8, Folding(Strategy.SUMMARY, keep=3, size=1_000), sums_up, Says("Done")).go()

    (folded,) = folds(run)
    assert folded.strategy is Strategy.SUMMARY
    assert folded.text.endswith("We did a, b and c.")
    request = run.model.requests[-2]
    assert (request.purpose, request.tools) == (Purpose.FOLD, ())
    assert "Agent called write" in request.messages[0].text
    assert folded.usage.cost == Decimal("0.5")
    assert run.usage.cost == Decimal("0.5")
    assert run.usage.model_calls == 10
    told = [m for m in run.model.requests[-1].messages if isinstance(m, UserMessage) and m.about is NoteKind.FOLDED]
    assert [message.text for message in told] == [folded.text]
    assert sum(isinstance(event, SummaryRequested) for event in run.events) == 1
    run.model.done()


async def test_without_a_summary_the_messages_are_left_out_and_it_is_said_why() -> None:
    broken = Says(error=ModelError(ErrorKind.CONNECTION, "No connection."))
    run = await shell(8, Folding(Strategy.LAYERED, keep=3, size=1_000), broken, Says("Done")).go()

    (folded,) = folds(run)
    assert folded.strategy is Strategy.WINDOW
    assert folded.error is not None
    assert folded.error.kind is ErrorKind.CONNECTION
    assert end(run) == (Outcome.ANSWERED, Reason.DONE)


async def test_a_summary_that_broke_off_is_asked_for_again() -> None:
    lost = Says("We d", error=ModelError(ErrorKind.CONNECTION, "Lost.", retryable=True))
    run = await shell(8, Folding(Strategy.SUMMARY, keep=3, size=1_000), lost, Says("We did a."), Says("Done")).go()

    (folded,) = folds(run)
    assert (folded.strategy, folded.error) == (Strategy.SUMMARY, None)
    asked = [event for event in run.events if isinstance(event, SummaryRequested)]
    assert [(one.attempt, one.message) for one in asked] == [(1, folded.message), (2, folded.message)]
    assert len(run.slept) == 1


async def test_a_summary_of_too_much_is_asked_for_again_with_half_of_it() -> None:
    broken = Says(error=TOO_LONG)
    run = await shell(8, Folding(Strategy.SUMMARY, keep=3, size=1_000), broken, Says("We did a."), Says("Done")).go()

    first, second = (event.room for event in run.events if isinstance(event, SummaryRequested))
    assert second == first // 2
    (one, other) = (each.messages[0].text for each in run.model.requests if each.purpose is Purpose.FOLD)
    assert len(other) < len(one)
    assert len(folds(run)) == 1


async def test_a_summary_that_says_nothing_is_paid_for_all_the_same() -> None:
    empty = Says("  ", usage=Usage(input_tokens=400, cost=Decimal("0.5")))
    run = await shell(8, Folding(Strategy.SUMMARY, keep=3, size=1_000), empty, Says("Done")).go()
    (folded,) = folds(run)
    assert (folded.strategy, folded.usage.cost) == (Strategy.WINDOW, Decimal("0.5"))
    assert folded.error is not None and folded.error.kind is ErrorKind.EMPTY_RESPONSE


async def test_a_run_that_is_cancelled_while_it_is_summed_up_asks_no_model_any_more() -> None:
    run = shell(8, Folding(Strategy.SUMMARY, keep=3, size=1_000), Says("We did", hangs=True))
    await run.go(lambda step: run.controls.cancel() if has(SummaryRequested)(step) else None)

    assert folds(run) == []
    assert end(run) == (Outcome.CANCELLED, Reason.BY_PERSON)
    assert run.model.requests[-1].purpose in (Purpose.FOLD, Purpose.TURN)


async def test_a_worker_that_is_lost_in_the_summary_has_it_made_again() -> None:
    run = shell(8, Folding(Strategy.SUMMARY, keep=3, size=1_000), Says("We did a."), Says("Done"))
    await run.crash(has(SummaryRequested))
    await run.resume()
    assert len(folds(run)) == 1
    assert end(run) == (Outcome.ANSWERED, Reason.DONE)


class Gone:
    """A budget of which nothing is left after some turns."""

    def __init__(self, run: Shell, turns: int) -> None:
        self.run, self.turns = run, turns

    async def current(self) -> tuple[Budget, ...]:
        return (Budget("b", "p", Unit.TOKENS, Decimal(self.turns), None, Decimal(self.run.usage.turns)),)


async def test_nobody_pays_for_a_summary_when_the_budget_is_used_up() -> None:
    folding = Folding(Strategy.SUMMARY, keep=2, size=1_000)
    run = shell(8, folding, Says("This is done, that is not."))
    run.setup = replace(run.setup, budgets=Gone(run, 8))
    await run.go()

    (folded,) = folds(run)
    assert folded.strategy is Strategy.WINDOW
    assert run.model.requests[-1].purpose is Purpose.WRAP_UP
    assert end(run) == (Outcome.LIMIT_REACHED, Reason.TOKENS)


async def test_a_run_folds_every_so_many_turns_if_the_agent_wants_it() -> None:
    sums_up = [Says("So far.")]
    script = [Says("x", (call(f"c{n}", x=n),)) for n in range(1, 12)]
    for place in (9, 5):
        script[place:place] = sums_up
    run = Shell(*script, Says("Done"), tools=(tool("write"),), limits=Limits(max_turns=30))
    run.setup = replace(run.setup, folding=Folding(Strategy.LAYERED, keep=1, every=4))
    await run.go()
    assert [fold.turn for fold in folds(run)] == [6, 10]
    assert [len(fold.messages) for fold in folds(run)] == [4, 4]
    assert len(run.transcript.shown_folds()) == 2
    run.model.done()


async def test_layers_come_with_working_notes_of_which_only_the_newest_are_sent() -> None:
    script = [Says("x", (call(f"c{n}", x=n),)) for n in range(1, 12)]
    script.insert(5, Says("So far.\n\n**Working notes:**\n- Port 80"))
    script.insert(10, Says("And then.\n\nWorking notes:\n- Port 81"))
    run = Shell(*script, Says("Done"), tools=(tool("write"),), limits=Limits(max_turns=30))
    run.setup = replace(run.setup, folding=Folding(Strategy.LAYERED, keep=1, every=4))
    await run.go()

    first, second = folds(run)
    assert (first.notes, second.notes) == ("- Port 80", "- Port 81")
    asked = [request for request in run.model.requests if request.purpose is Purpose.FOLD]
    assert [("Port 80" in one.messages[0].text) for one in asked] == [False, True]
    told = [
        m.text for m in run.model.requests[-1].messages if isinstance(m, UserMessage) and m.about is NoteKind.FOLDED
    ]
    assert told[0].endswith("So far.")
    assert told[1].endswith("And then.\n\nWorking notes:\n- Port 81")


class Tight:
    """A budget that people are asked about, once."""

    def __init__(self, run: Shell) -> None:
        self.run = run

    async def current(self) -> tuple[Budget, ...]:
        asked = any(isinstance(event, QuestionAsked) for event in self.run.events)
        spent = Decimal(0 if asked or self.run.usage.turns < 5 else 90)
        return (Budget("b", "p", Unit.TOKENS, Decimal(100_000), Decimal("0.0001"), spent),)


async def test_people_may_have_it_folded_before_it_goes_on_within_a_budget() -> None:
    run = shell(5, Folding(keep=2), Says("Done"))
    run.setup = replace(run.setup, budgets=Tight(run))
    await run.go()
    asked = next(event for event in run.events if isinstance(event, QuestionAsked))
    assert asked.offer == {"amount": 25_000, "compact": False}
    run.say(DecisionKind.MODIFY, arguments={"amount": 0, "compact": True})
    await run.resume()

    assert len(folds(run)) == 1
    assert end(run) == (Outcome.ANSWERED, Reason.DONE)


async def test_people_may_go_on_with_a_cheaper_model_for_the_rest_of_the_run() -> None:
    run = shell(5, Folding(), Says("Never asked"))
    cheaper = ScriptedTestModel([Says("More", (call("c9"),)), Says("Done")], name="small")
    run.setup = replace(run.setup, budgets=Tight(run), cheaper=cheaper)
    await run.go()
    asked = next(event for event in run.events if isinstance(event, QuestionAsked))
    assert (asked.offer["cheaper"], asked.facts["cheaper"]) == (False, "small")
    run.say(DecisionKind.MODIFY, arguments={"amount": 0, "cheaper": True})
    await run.resume()

    models = [event.model for event in run.events if isinstance(event, ModelRequested)]
    assert models == ["scripted"] * 5 + ["small"] * 2
    assert end(run) == (Outcome.ANSWERED, Reason.DONE)


async def test_who_had_it_folded_is_not_asked_again_for_what_it_cost_before() -> None:
    run = shell(4, Folding(keep=2), Says("x", (call("c9", x=9),), usage=Usage(input_tokens=900)), Says("Done"))
    run.setup = replace(run.setup, budgets=Narrow(run))
    await run.go()
    run.say(DecisionKind.MODIFY, arguments={"amount": 10, "compact": True})
    await run.resume()

    assert sum(isinstance(event, QuestionAsked) for event in run.events) == 1
    assert len(folds(run)) == 1
    assert end(run) == (Outcome.ANSWERED, Reason.DONE)


class Narrow:
    """A budget that a call as long as the longest so far would not fit into, whatever people grant."""

    def __init__(self, run: Shell) -> None:
        self.run = run

    async def current(self) -> tuple[Budget, ...]:
        given = [Grant(Decimal(10), Decimal(900)) for event in self.run.events if isinstance(event, QuestionDecided)]
        spent = Decimal(self.run.usage.input_tokens)
        return (Budget("b", "p", Unit.TOKENS, Decimal(1_500), Decimal("0.99"), spent, tuple(given)),)
