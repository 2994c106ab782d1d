"""A model that has failed for good is replaced by the agent's fallback, for the rest of the run."""

from dataclasses import replace

import pytest

from agentweb.engine import sentences
from agentweb.engine.context import Folding
from agentweb.engine.enums import ApprovalStatus, DecisionKind, ErrorKind, Outcome, Question, Strategy
from agentweb.engine.events import (
    ContextFolded,
    MessageFinished,
    ModelFault,
    ModelReplaced,
    ModelRequested,
    QuestionDecided,
    RunFinished,
    SummaryRequested,
    ToolStarted,
)
from agentweb.engine.ports import Model, ModelError
from agentweb.engine.transcript import Transcript
from agentweb.engine.usage import Limits, Usage
from tests.engine.fakes import Shell, tool
from tests.engine.scripted_model import Says, ScriptedTestModel, call

BUSY = ModelError(ErrorKind.RATE_LIMIT, "The model server is busy.", retryable=True)
REFUSED = ModelError(ErrorKind.AUTH, "The key is refused.")
TOO_LONG = ModelError(ErrorKind.CONTEXT_LENGTH, "Too long.")


def with_fallback(shell: Shell, *script: Says) -> ScriptedTestModel:
    fallback = ScriptedTestModel(list(script), name="spare")
    shell.setup = replace(shell.setup, fallback=fallback)
    return fallback


def asked(shell: Shell) -> list[tuple[str, int, int]]:
    requested = [event for event in shell.events if isinstance(event, ModelRequested)]
    return [(event.model, event.turn, event.attempt) for event in requested]


@pytest.mark.parametrize(("error", "tries"), [(BUSY, 4), (REFUSED, 1), (TOO_LONG, 1)])
async def test_it_is_asked_once_the_model_has_failed_for_good(error: ModelError, tries: int) -> None:
    shell = Shell(*[Says("Half", (call("a"),), error=error)] * tries, tools=(tool("write"),))
    fallback = with_fallback(shell, Says("Acting", (call("b"),)), Says("Done"))
    await shell.go()
    main = [("scripted", 1, attempt + 1) for attempt in range(tries)]
    assert asked(shell) == [*main, ("spare", 1, 1), ("spare", 2, 1)]
    (replaced,) = [event for event in shell.events if isinstance(event, ModelReplaced)]
    assert (replaced.model, replaced.by, replaced.error.message) == ("scripted", "spare", error.message)
    assert [event.call for event in shell.events if isinstance(event, ToolStarted)] == ["b"], "no broken call ran"
    assert isinstance(end := shell.events[-1], RunFinished) and end.outcome is Outcome.ANSWERED
    fallback.done()


async def test_it_is_tried_as_often_as_the_model_and_then_the_run_fails() -> None:
    shell = Shell(Says(error=REFUSED))
    with_fallback(shell, *[Says(error=BUSY)] * 4)
    await shell.go()
    assert asked(shell) == [("scripted", 1, 1), *(("spare", 1, attempt) for attempt in (1, 2, 3, 4))]
    assert isinstance(end := shell.events[-1], RunFinished)
    assert (end.outcome, end.text) == (Outcome.FAILED, BUSY.message)


async def test_it_is_not_asked_while_the_model_may_still_come_round() -> None:
    shell = Shell(Says(error=BUSY), Says("Done"))
    with_fallback(shell)
    await shell.go()
    assert {model for model, _turn, _attempt in asked(shell)} == {"scripted"}


async def test_it_is_not_asked_for_what_the_system_itself_did_wrong() -> None:
    shell = Shell(Says(error=ModelError(ErrorKind.INTERNAL, "An extension holds this back.")))
    with_fallback(shell)
    await shell.go()
    assert isinstance(end := shell.events[-1], RunFinished) and end.outcome is Outcome.FAILED


async def test_a_replay_of_the_events_leads_to_the_same_model() -> None:
    shell = Shell(Says(error=REFUSED))
    fallback: Model = with_fallback(shell, Says("Done"))
    await shell.go()
    again = Transcript()
    for event in shell.events:
        again.apply(event)
    assert again.fallback and shell.setup.fallback is fallback


def test_a_cheaper_model_that_people_choose_later_is_asked_until_it_fails_too() -> None:
    fault = ModelFault(ErrorKind.AUTH, "The key is refused.")
    budget = (Question.BUDGET, ApprovalStatus.MODIFIED, DecisionKind.MODIFY, "ann", "")
    said = Transcript()
    seen = []
    for event in (
        ModelReplaced(1, "scripted", "spare", fault),
        QuestionDecided("a1", *budget, {"amount": 5, "cheaper": False}),
        QuestionDecided("a2", *budget, {"amount": 5, "cheaper": True}),
        ModelReplaced(2, "small", "spare", fault),
    ):
        said.apply(event)
        seen.append((said.cheaper, said.fallback))
    assert seen == [(False, True), (False, True), (True, False), (True, True)]


def summed_up(shell: Shell, *then: Says, **sizes: int) -> ScriptedTestModel:
    """The agent sums up what is older, and its fallback says this."""
    fallback = with_fallback(shell, *then)
    folding = Folding(Strategy.SUMMARY, keep=2, size=1_000)
    shell.setup = replace(shell.setup, folding=folding, sizes=sizes)
    return fallback


def long_run(turns: int, *then: Says) -> Shell:
    """A run whose context has grown by a hundred tokens in each of its turns, where the server counts none."""
    silent = Usage(output_tokens=5)
    script = [Says("x" * 350, (call(f"c{n}", x=n),), usage=silent) for n in range(turns)]
    return Shell(*script, *then, tools=(tool("write"),), limits=Limits(max_turns=30))


@pytest.mark.parametrize("refusal", [Says(error=REFUSED), Says("")], ids=["refused", "empty"])
async def test_a_summary_that_the_model_cannot_make_is_made_by_the_fallback(refusal: Says) -> None:
    shell = long_run(8, refusal)
    fallback = summed_up(shell, Says(error=BUSY), Says("They wrote often."), Says("Done"))
    await shell.go()
    assert "ModelReplaced SummaryRequested" in " | ".join(shell.kinds)
    requests = [event for event in shell.events if isinstance(event, SummaryRequested)]
    assert [(one.model, one.attempt) for one in requests] == [("scripted", 1), ("spare", 1), ("spare", 2)]
    (folded,) = [event for event in shell.events if isinstance(event, ContextFolded)]
    assert "They wrote often." in folded.text and folded.error is None
    paid = (2 if refusal.error is None else 1) * 10
    assert folded.usage.input_tokens == paid, "what the model counted for an empty summary is paid too"
    assert asked(shell)[-1] == ("spare", 9, 1)
    fallback.done()


async def test_without_a_summary_by_the_fallback_either_messages_are_left_out() -> None:
    shell = long_run(8, Says(error=REFUSED))
    summed_up(shell, Says(error=REFUSED), Says("Done"))
    await shell.go()
    (folded,) = [event for event in shell.events if isinstance(event, ContextFolded)]
    assert folded.strategy is Strategy.WINDOW and folded.error is not None
    assert isinstance(end := shell.events[-1], RunFinished) and end.outcome is Outcome.ANSWERED


async def test_the_last_call_of_a_run_is_made_by_the_fallback_where_the_model_fails() -> None:
    shell = Shell(Says("", (call("a"),)), Says("So f", error=BUSY), tools=(tool("write"),), limits=Limits(max_turns=1))
    fallback = with_fallback(shell, Says("I wrote the file."))
    await shell.go()
    assert asked(shell) == [("scripted", 1, 1), ("scripted", 1, 1), ("spare", 1, 1)]
    assert "MessageInterrupted ModelReplaced ModelRequested" in " ".join(shell.kinds).replace(" | ", " ")
    (said,) = [event for event in shell.events if isinstance(event, MessageFinished) and not event.message.calls]
    assert said.message.text == "I wrote the file."
    assert isinstance(end := shell.events[-1], RunFinished) and end.outcome is Outcome.LIMIT_REACHED
    fallback.done()


async def test_a_run_whose_fallback_cannot_sum_up_either_ends_with_our_own_sentence() -> None:
    shell = Shell(Says("", (call("a"),)), Says(error=BUSY), tools=(tool("write"),), limits=Limits(max_turns=1))
    with_fallback(shell, Says("So ", error=REFUSED))
    await shell.go()
    (said,) = [event for event in shell.events if isinstance(event, MessageFinished) and not event.message.calls]
    assert said.message.text == f"So \n\n{sentences.UNFINISHED}"
    assert isinstance(end := shell.events[-1], RunFinished) and end.outcome is Outcome.LIMIT_REACHED


async def test_it_gets_only_as_much_as_it_takes_itself() -> None:
    shell = long_run(6, Says(error=REFUSED))
    fallback = with_fallback(shell, Says("Done"))
    shell.setup = replace(shell.setup, folding=Folding(keep=2, size=100_000), sizes={"spare": 500})
    await shell.go()
    (folded,) = [event for event in shell.events if isinstance(event, ContextFolded)]
    assert folded.before > 450 > folded.after
    assert len(fallback.requests[0].messages) < len(shell.model.requests[-1].messages)


async def test_what_it_gets_to_sum_up_fits_it_too() -> None:
    shell = long_run(8, Says(error=REFUSED))
    summed_up(shell, Says("Short."), Says("Done"), spare=600)
    await shell.go()
    requests = [event for event in shell.events if isinstance(event, SummaryRequested)]
    assert [(one.model, one.room) for one in requests] == [("scripted", 800), ("spare", 480)]
