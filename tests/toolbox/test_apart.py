"""A tool in a process of its own: its steps come through, and it ends with whatever it has started."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from agentweb.engine.ports import Output, Progress, ToolError, ToolSuspension
from agentweb.toolbox.apart import ProcessFailed
from tests.toolbox.apart_tools import block_apart, count_apart, lives, noted, refuse_apart
from tests.toolbox.calling import context_in, run, steps_of
from tests.waiting import at_once, until

AT_ONCE_S = 1.0


def test_its_progress_and_its_result_come_from_another_process_and_what_it_prints_does_not_disturb(
    tmp_path: Path,
) -> None:
    progress, output = asyncio.run(steps_of(count_apart, {"to": 3}, context_in(tmp_path)))

    assert progress == Progress("counting", 0.5)
    assert isinstance(output, Output)
    assert output.content.startswith("3 in ") and output.content.endswith(" for call-1")
    assert str(os.getpid()) not in output.content


@pytest.mark.parametrize(
    ("how", "error", "words"),
    [
        ("tool", ToolError, "No such thing."),
        ("bug", ProcessFailed, "KeyError: 'bug'"),
        ("exit", ProcessFailed, "ended with 3"),
    ],
)
def test_its_failure_is_told(tmp_path: Path, how: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        run(refuse_apart, {"how": how}, context_in(tmp_path))


def test_it_may_wait_for_an_answer_of_a_certain_form(tmp_path: Path) -> None:
    with pytest.raises(ToolSuspension, match="Which one") as waits:
        run(refuse_apart, {"how": "ask"}, context_in(tmp_path))
    assert waits.value.schema == {"type": "object"}


def test_a_cancel_ends_it_and_the_program_that_it_has_started(tmp_path: Path) -> None:
    context = context_in(tmp_path)

    async def cancelled() -> float:
        loop = asyncio.get_running_loop()
        call = asyncio.create_task(steps_of(block_apart, {}, context))
        await asyncio.to_thread(until, lambda: noted(context.workspace))
        began = loop.time()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        return loop.time() - began

    def seconds_to_cancel() -> float:
        (context.workspace / "pids").unlink(missing_ok=True)
        took = asyncio.run(cancelled())
        until(lambda: not any(map(lives, noted(context.workspace))), what="both processes are gone")
        return took

    at_once(seconds_to_cancel, AT_ONCE_S)


def test_it_ends_with_its_worker(tmp_path: Path) -> None:
    asked = {
        "module": block_apart.function.__module__,
        "name": "block_apart",
        "arguments": {},
        "context": {"call": "c", "workspace": str(tmp_path), "secrets": {}},
    }
    command = [sys.executable, "-m", "agentweb.toolbox.apart"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True, text=True) as process:
        assert process.stdin is not None
        process.stdin.write(json.dumps(asked) + "\n")
        process.stdin.flush()
        until(lambda: noted(tmp_path), what="it works")
        process.stdin.close()  # as the system does when a worker is killed
        assert process.wait(10) == -signal.SIGKILL
    until(lambda: not any(map(lives, noted(tmp_path))), what="both processes are gone")
