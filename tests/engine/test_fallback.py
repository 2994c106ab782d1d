"""A model that has failed for good is replaced by the agent's fallback, for the rest of the run."""

from dataclasses import replace

import pytest

from agentweb.engine.enums import ApprovalStatus, DecisionKind, ErrorKind, Outcome, Question
from agentweb.engine.events import (
    ModelFault,
    ModelReplaced,
    ModelRequested,
    QuestionDecided,
    RunFinished,
    ToolStarted,
)
from agentweb.engine.ports import Model, ModelError
from agentweb.engine.transcript import Transcript
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
