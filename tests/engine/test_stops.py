"""A person or an extension stops a run after reasoning or after acting; whoever asks, it counts."""

import asyncio
from dataclasses import replace

import pytest

from agentweb.engine.enums import Outcome, Reason, StopAfter
from agentweb.engine.events import RunFinished, SeamFailed, StopRequested, ToolStarted
from agentweb.engine.messages import AssistantMessage
from agentweb.engine.ports import ToolSuspension
from agentweb.engine.seams import About, Stop
from tests.engine.fakes import ASK, FakePolicy, Shell, tool
from tests.engine.scripted_model import Says, call
from tests.engine.test_acting import raising


class AfterModel:
    """Asks for a stop where the message holds a word; remembers what it was asked about."""

    name = "guard"

    def __init__(self, word: str = "") -> None:
        self.word = word
        self.seen: list[str] = []

    def after_model(self, message: AssistantMessage, about: About) -> Stop | None:
        self.seen.append(message.text)
        return Stop("that word") if self.word in message.text else None


class AfterActing:
    name = "watch"

    def __init__(self) -> None:
        self.seen: list[About] = []

    async def after_acting(self, about: About) -> Stop:
        await asyncio.sleep(0)
        self.seen.append(about)
        return Stop()


class Broken:
    name = "broken"
    priority = 1

    def after_model(self, message: AssistantMessage, about: About) -> None:
        raise ValueError("no idea")


def end_of(shell: Shell) -> RunFinished:
    assert isinstance(shell.events[-1], RunFinished)
    return shell.events[-1]


async def test_an_extension_stops_after_reasoning_and_nothing_runs() -> None:
    used = tool("write")
    shell = await Shell(Says("No good", (call("a"),)), tools=(used,), seams=(AfterModel("No"),)).go()

    assert shell.kinds[1:] == ["MessageFinished", "StopRequested ToolFinished TurnFinished RunFinished"]
    end = end_of(shell)
    assert (end.outcome, end.reason) == (Outcome.STOPPED, Reason.AFTER_REASONING)
    assert end.text.startswith("Stopped by guard after reasoning")
    assert used.runs == []


async def test_it_is_asked_once_about_each_message_and_the_run_goes_on_when_it_has_nothing_to_say() -> None:
    guard = AfterModel("never")
    shell = await Shell(Says("One", (call("a"),)), Says("Two"), tools=(tool("write"),), seams=(guard,)).go()

    assert guard.seen == ["One", "Two"]
    assert end_of(shell).outcome is Outcome.ANSWERED
    assert shell.kinds[-2:] == ["MessageFinished", "TurnFinished RunFinished"]


async def test_it_is_not_asked_again_when_a_decision_comes() -> None:
    guard = AfterModel("never")
    policy = FakePolicy({"write": ASK})
    shell = await Shell(Says("One", (call("a"),)), tools=(tool("write"),), policy=policy, seams=(guard,)).go()
    await shell.resume()
    assert guard.seen == ["One"]


async def test_an_extension_stops_after_acting() -> None:
    watch = AfterActing()
    shell = await Shell(Says("One", (call("a"),)), tools=(tool("write"),), seams=(watch,)).go()

    assert len([event for event in shell.events if isinstance(event, ToolStarted)]) == 1
    assert (end_of(shell).outcome, end_of(shell).reason) == (Outcome.STOPPED, Reason.AFTER_ACTING)
    [about] = watch.seen
    assert (about.turn, about.usage.tool_calls, about.messages[-1].content) == (1, 1, "did {}")  # type: ignore[union-attr]


async def test_a_stop_after_acting_counts_when_every_call_is_suspended() -> None:
    used = raising(ToolSuspension("Which city?"))
    shell = await Shell(Says("", (call("a"),)), tools=(used,), seams=(AfterActing(),)).go()

    assert end_of(shell).reason is Reason.AFTER_ACTING
    assert shell.kinds[-1] == "ToolSuspended StopRequested ToolFinished TurnFinished RunFinished"


async def test_one_that_fails_is_named_and_the_others_are_still_asked() -> None:
    shell = await Shell(Says("No", (call("a"),)), tools=(tool("write"),), seams=(AfterModel("No"), Broken())).go()

    failure = next(event for event in shell.events if isinstance(event, SeamFailed))
    assert (failure.seam, failure.point, failure.error) == ("broken", "after_model", "ValueError: no idea")
    assert failure.effect == "The run went on without it."
    assert end_of(shell).outcome is Outcome.STOPPED


async def test_one_that_takes_too_long_is_given_up() -> None:
    class Slow:
        timeout_s = 0.01

        async def after_model(self, message: AssistantMessage, about: About) -> None:
            await asyncio.Event().wait()

    shell = await Shell(Says("Done"), seams=(Slow(),)).go()

    failure = next(event for event in shell.events if isinstance(event, SeamFailed))
    assert (failure.seam, failure.error) == ("Slow", "no answer within 0.01 seconds")
    assert end_of(shell).outcome is Outcome.ANSWERED


async def test_a_stop_that_was_recorded_outlives_the_worker() -> None:
    shell = Shell(Says("No", (call("a"),)), tools=(tool("write"),), seams=(AfterModel("No"),))
    await shell.go()
    shell.batches[-1] = (next(event for event in shell.batches[-1] if isinstance(event, StopRequested)),)

    shell.setup = replace(shell.setup, seams=replace(shell.setup.seams, installed=()))
    await shell.resume()

    assert end_of(shell).text.startswith("Stopped by guard")


@pytest.mark.parametrize("after", list(StopAfter))
async def test_what_a_person_wants_comes_first(after: StopAfter) -> None:
    shell = Shell(Says("No", (call("a"),)), tools=(tool("write"),), seams=(AfterModel("No"),))
    shell.controls.stop_after = after

    await shell.go()

    assert end_of(shell).text.startswith("Stopped by a person")
