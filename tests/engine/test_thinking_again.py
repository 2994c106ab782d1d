"""An extension that wants the model to be asked again within the turn."""

from agentweb.engine.enums import Outcome
from agentweb.engine.events import (
    ThinkAgainRequested,
)
from agentweb.engine.messages import AssistantMessage
from agentweb.engine.seams import About, Point, Stop, ThinkAgain
from agentweb.engine.usage import Limits
from tests.engine.fakes import Shell, has, tool
from tests.engine.scripted_model import Says, call
from tests.engine.test_seams import Seam, end_of, notes, texts


def doubt(message: AssistantMessage, about: About) -> ThinkAgain | None:
    return ThinkAgain("Are you sure?") if message.text == "Hm" else None


async def test_the_model_is_asked_again_within_the_turn_and_its_calls_do_not_run() -> None:
    used = tool("write")
    seam = Seam(Point.AFTER_MODEL, doubt, name="critic")
    shell = await Shell(Says("Hm", (call("a"),)), Says("Sure"), tools=(used,), seams=(seam,)).go()

    assert shell.kinds[2] == "ToolFinished NoteAdded ThinkAgainRequested ModelRequested"
    assert shell.results() == {"a": "Not run: critic asked you to think again first."}
    assert texts(shell.model.requests[1])[-1] == "Are you sure?"
    assert used.runs == []
    assert (shell.usage.turns, shell.usage.model_calls) == (1, 2)
    assert end_of(shell).outcome is Outcome.ANSWERED


async def test_it_passes_the_turn_limit_but_not_its_own() -> None:
    seam = Seam(Point.AFTER_MODEL, doubt)
    limits = Limits(max_turns=1, think_again=2)
    shell = await Shell(Says("Hm"), Says("Hm"), Says("Hm"), limits=limits, seams=(seam,)).go()

    asked = [one.granted for one in shell.events if isinstance(one, ThinkAgainRequested)]
    assert asked == [True, True, False]
    assert (shell.usage.turns, shell.usage.model_calls) == (1, 3)
    assert end_of(shell).outcome is Outcome.ANSWERED


async def test_its_own_limit_counts_for_the_whole_run_and_outlives_a_lost_worker() -> None:
    seam = Seam(Point.AFTER_MODEL, doubt)
    shell = Shell(Says("Hm"), Says("Hm"), Says("Hm"), limits=Limits(think_again=1), seams=(seam,))
    await shell.crash(has(ThinkAgainRequested))
    await shell.resume()
    assert [one.granted for one in shell.events if isinstance(one, ThinkAgainRequested)] == [True, False]


async def test_without_a_note_the_model_is_told_to_think_again() -> None:
    answers = iter([ThinkAgain(), None])
    seam = Seam(Point.AFTER_MODEL, lambda message, about: next(answers))
    shell = await Shell(Says("Hm"), Says("Sure"), seams=(seam,)).go()
    assert notes(shell) == [("seam", "Think again before you go on.")]


async def test_a_stop_is_stronger_than_another_thought() -> None:
    seams = (Seam(Point.AFTER_MODEL, doubt), Seam(Point.AFTER_MODEL, Stop("enough")))
    shell = await Shell(Says("Hm", (call("a"),)), tools=(tool("write"),), seams=seams).go()
    assert end_of(shell).outcome is Outcome.STOPPED
    assert not any(isinstance(one, ThinkAgainRequested) for one in shell.events)
