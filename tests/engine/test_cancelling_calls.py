"""A cancel, a closed loop and an error of our own in the middle of tool calls."""

import asyncio
from collections.abc import Mapping

import pytest

from agentweb.engine.enums import Outcome, ResultKind
from agentweb.engine.events import MessageFinished, RunFinished, ToolFinished, ToolProgressed, ToolStarted
from agentweb.engine.messages import Json
from agentweb.engine.ports import Output, Progress
from tests.engine.fakes import Shell, has, tool
from tests.engine.scripted_model import Says, call
from tests.engine.test_acting import Items, Stage, mixed


async def test_a_cancel_in_the_middle_of_tools_keeps_results_and_closes_the_rest() -> None:
    stage = Stage()
    stage.gates = {"1": asyncio.Event()}
    write, read = stage.tools()
    shell = Shell(Says("", mixed("read", "read", "write", "write")), tools=(write, read))
    stage.gates["2"] = asyncio.Event()

    await asyncio.wait_for(shell.go(lambda step: shell.controls.cancel() if has(ToolFinished)(step) else None), 20)

    assert shell.results() == {
        "c0": "result 0",
        "c1": "Cancelled by the user before it finished; part of its effect may have happened.",
        "c2": "Cancelled by the user before it finished; part of its effect may have happened.",
        "c3": "Cancelled by the user before it finished; it did not run.",
    }
    assert shell.kinds[-1] == "ToolFinished ToolFinished ToolFinished TurnFinished RunFinished"
    assert isinstance(end := shell.events[-1], RunFinished)
    assert end.outcome is Outcome.CANCELLED
    assert (read.stopped, write.stopped) == (1, 1)


async def test_a_cancel_does_not_wait_for_a_tool_that_will_not_end() -> None:
    free = asyncio.Event()

    async def body(arguments: Mapping[str, Json]) -> Items:
        while not free.is_set():
            try:
                await free.wait()
            except asyncio.CancelledError:
                continue
        yield Output("late")

    shell = Shell(Says("", (call("a"),)), tools=(tool("write", body),))
    try:
        await asyncio.wait_for(shell.go(lambda step: shell.controls.cancel() if has(ToolStarted)(step) else None), 20)
    finally:
        free.set()

    result = shell.entry("a").result
    assert result is not None
    assert result.kind is ResultKind.CANCELLED


async def test_a_cancel_right_after_the_start_was_recorded_runs_nothing() -> None:
    used = tool("write")
    shell = Shell(Says("", (call("a"),)), tools=(used,))

    await shell.go(lambda step: shell.controls.cancel() if has(ToolStarted)(step) else None)

    assert used.runs == []
    assert shell.kinds[-1] == "ToolFinished TurnFinished RunFinished"


async def test_a_cancel_between_message_and_calls_runs_nothing() -> None:
    used = tool("write")
    shell = Shell(Says("", (call("a"),)), tools=(used,))

    await shell.go(lambda step: shell.controls.cancel() if has(MessageFinished)(step) else None)

    assert used.runs == []
    assert shell.results() == {"a": "Cancelled by the user before it finished; it did not run."}


async def test_a_closed_generator_ends_the_tools_that_run() -> None:
    async def body(arguments: Mapping[str, Json]) -> Items:
        yield Progress("on it")
        await asyncio.Event().wait()

    used = tool("write", body)
    shell = Shell(Says("", (call("a"),)), tools=(used,))

    await shell.crash(lambda step: isinstance(step, ToolProgressed))

    assert used.stopped == 1


async def test_an_error_of_our_own_while_tools_run_comes_out_and_does_not_hang() -> None:
    shell = Shell(Says("", (call("a"),)), tools=(tool("write"),))

    def broken() -> float:
        raise RuntimeError("no clock")

    def break_clock(step: object) -> None:
        if has(ToolStarted)(step):  # type: ignore[arg-type]
            object.__setattr__(shell.setup, "clock", broken)

    with pytest.raises(RuntimeError, match="no clock"):
        await asyncio.wait_for(shell.go(break_clock), 20)
