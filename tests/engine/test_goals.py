"""Goals are checked when the model answers; what fails goes back to it until all is well or a limit is reached."""

import asyncio
from dataclasses import dataclass, field

from agentweb.engine.enums import Outcome, Reason, StopAfter
from agentweb.engine.events import GoalResult, GoalsChecked, NoteAdded, Queued, RunFinished
from agentweb.engine.messages import UserMessage
from agentweb.engine.usage import Limits
from tests.engine.fakes import Shell, tool
from tests.engine.scripted_model import Says, call


@dataclass
class Contains:
    """The answer holds a word."""

    subject: str
    kind: str = "text"
    label: str = ""
    error: Exception | None = None
    checked: list[str] = field(default_factory=list)

    @property
    def words(self) -> str:
        return f"Says {self.subject}"

    async def check(self, answer: str) -> str:
        self.checked.append(answer)
        if self.error:
            raise self.error
        return "" if self.subject in answer else f"There is no {self.subject}."


def results(shell: Shell) -> list[tuple[GoalResult, ...]]:
    return [event.results for event in shell.events if isinstance(event, GoalsChecked)]


def end_of(shell: Shell) -> RunFinished:
    assert isinstance(shell.events[-1], RunFinished)
    return shell.events[-1]


async def test_goals_that_are_reached_end_the_run_and_are_recorded_after_the_answer() -> None:
    shell = await Shell(Says("salt and pepper"), goals=(Contains("salt"), Contains("pepper"))).go()

    assert shell.kinds[1:] == ["MessageFinished", "TurnFinished GoalsChecked RunFinished"]
    assert [[result.passed for result in checked] for checked in results(shell)] == [[True, True]]
    assert end_of(shell).outcome is Outcome.ANSWERED


async def test_what_fails_goes_back_to_the_model_until_it_passes() -> None:
    shell = await Shell(Says("salt"), Says("salt and pepper"), goals=(Contains("salt"), Contains("pepper"))).go()

    assert shell.kinds[2] == "TurnFinished GoalsChecked NoteAdded TurnStarted ModelRequested"
    told = shell.model.requests[1].messages[-1]
    assert isinstance(told, UserMessage) and told.author == ""
    assert "- Says pepper: There is no pepper." in told.text and "salt" not in told.text
    assert end_of(shell).outcome is Outcome.ANSWERED
    assert shell.usage.turns == 2


async def test_at_the_limit_the_run_is_wrapped_up_and_not_called_answered() -> None:
    goal = Contains("pepper")
    shell = await Shell(Says("salt"), Says("I have no pepper"), goals=(goal,), limits=Limits(max_turns=1)).go()

    assert (end_of(shell).outcome, end_of(shell).reason) == (Outcome.LIMIT_REACHED, Reason.TURNS)
    assert goal.checked == ["salt"]


async def test_goals_are_not_checked_while_the_model_works_or_people_steer() -> None:
    goal = Contains("pepper")
    shell = Shell(Says("Working", (call("a"),)), Says("salt"), Says("pepper"), tools=(tool("write"),), goals=(goal,))
    shell.inbox.steer.append(Queued("q1", "and pepper"))
    await shell.go()
    assert goal.checked[-1] == "pepper"
    assert "Working" not in goal.checked


async def test_follow_ups_come_after_the_goals_and_the_next_answer_is_checked_too() -> None:
    goal = Contains("pepper")
    shell = Shell(Says("pepper"), Says("salt"), Says("pepper again"), goals=(goal,))
    shell.inbox.follow.append(Queued("q1", "and then?"))
    await shell.go()
    assert goal.checked == ["pepper", "salt", "pepper again"]
    assert end_of(shell).outcome is Outcome.ANSWERED


async def test_a_check_that_breaks_has_failed_and_says_so() -> None:
    goal = Contains("pepper", error=ValueError("no disk"))
    shell = await Shell(Says("pepper"), Says("sorry"), goals=(goal,), limits=Limits(max_turns=1)).go()

    assert results(shell)[0][0].problem == "This could not be checked (ValueError: no disk)."


async def test_a_stop_ends_the_run_when_goals_are_missed() -> None:
    shell = Shell(Says("salt"), goals=(Contains("pepper"),))
    shell.controls.stop_after = StopAfter.REASONING
    await shell.go()
    assert end_of(shell).outcome is Outcome.STOPPED


async def test_a_cancel_breaks_a_check_off() -> None:
    class Slow(Contains):
        async def check(self, answer: str) -> str:
            shell.controls.cancel()
            await asyncio.Event().wait()
            return ""

    shell = Shell(Says("salt"), goals=(Slow("pepper"),))
    await shell.go()
    assert end_of(shell).outcome is Outcome.CANCELLED
    assert results(shell) == []


async def test_the_note_survives_a_lost_worker() -> None:
    shell = Shell(Says("salt"), Says("pepper"), goals=(Contains("pepper"),))
    await shell.crash(lambda step: isinstance(step, tuple) and any(isinstance(one, NoteAdded) for one in step))
    await shell.resume()
    assert end_of(shell).outcome is Outcome.ANSWERED
    assert len(results(shell)) == 2
