"""Commands in the sandbox: they work on the workspace, and whatever they try beyond that is contained or refused."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path

import pytest

from agentweb.engine.ports import ToolError
from agentweb.toolbox import sandbox
from agentweb.toolbox.run_shell import run_command, run_shell
from agentweb.toolbox.sandbox import Limits
from tests.toolbox.apart_tools import lives
from tests.toolbox.calling import context_in, run, steps_of
from tests.waiting import until

in_sandbox = pytest.mark.skipif(bool(sandbox.unusable()), reason=f"no sandbox can be made here: {sandbox.unusable()}")


def shell(folder: Path, command: str, **limits: float) -> str:
    return asyncio.run(run_command(command, context_in(folder), replace(Limits(), **limits)))


@in_sandbox
def test_a_command_works_on_the_files_of_the_workspace(tmp_path: Path) -> None:
    context = context_in(tmp_path)
    assert run(run_shell, {"command": "mkdir a && echo 猫 > a/b && cat a/b && pwd"}, context) == "猫\n/workspace"
    assert (context.workspace / "a" / "b").read_text() == "猫\n"
    assert run(run_shell, {"command": "true"}, context) == "The command ended well and printed nothing."


@in_sandbox
@pytest.mark.parametrize(
    ("command", "told"),
    [
        ("ls -A / | tr '\\n' ' '; ls /root /home", "cannot access"),
        ("cat /etc/passwd", "No such file"),
        ("cat {outside}", "No such file"),
        ("ln -s {outside} link; cat link", "No such file"),
        ("ln /usr/bin/env hard", "ross-device link"),
        ("echo x > /usr/x", "Read-only file system"),
        ("echo x > /x", "Read-only file system"),
        ("env | sort | tr '\\n' ' '", "HOME=/tmp LANG=C.UTF-8 PATH=/usr/local/bin:/usr/bin:/bin PWD=/workspace"),
        ("cat /proc/1/environ | tr '\\0' ' '", "PATH="),
        ("cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d ' '", "lo"),
        ("id -u; id -g", "65534\n65534"),
        ("mount -t tmpfs x /tmp", "mount: "),
        ("kill -9 {worker}", "No such process"),
        ("kill -9 -1; echo goes on", "goes on"),
        ("kill -9 1; echo goes on", "goes on"),
        ("kill -SEGV $$", "[Ended by SIGSEGV.]"),
        ("exit 5", "[Ended with code 5.]"),
        ("for i in 1 2 3 4 5 6 7 8 9; do sleep 60 & done; echo more", "annot fork"),
        ("head -c 60000000 /dev/zero > large", "[Killed: no file may be larger than 50 MB.]"),
        ("while :; do :; done", "[Killed, as after 1 s of computing.]"),
        ("x=x; while :; do x=$x$x$x; done; echo survived", "[Ended with code"),
    ],
)
def test_what_a_command_tries_beyond_the_workspace_is_contained(tmp_path: Path, command: str, told: str) -> None:
    outside = tmp_path / "outside"
    outside.write_text("canary")
    text = shell(
        tmp_path,
        command.format(outside=outside, worker=os.getpid()),
        cpu_s=1 if command.startswith("while") else 30,
        processes=6,
        memory=100_000_000,
    )
    assert told in text
    assert "canary" not in text


@in_sandbox
@pytest.mark.parametrize(
    ("command", "limits", "why"),
    [
        ("echo before; sleep 600", {"seconds": 0.3}, "The command ran for longer than 0.3 s and was stopped."),
        ("bomb() { bomb | bomb & }; bomb; sleep 600", {"seconds": 0.3, "processes": 8}, "longer than 0.3 s"),
        ("yes", {}, "The command printed more than 200 kB and was stopped."),
        ("while :; do head -c 1000000 /dev/zero > f$$; done", {"files": 100_000, "seconds": 60}, "more than 0 MB"),
    ],
)
def test_a_command_that_takes_too_much_is_stopped(
    tmp_path: Path, command: str, limits: dict[str, float], why: str
) -> None:
    with pytest.raises(ToolError) as stopped:
        shell(tmp_path, command, **limits)
    assert why in str(stopped.value)


@in_sandbox
def test_nothing_goes_on_after_the_end_or_a_cancel(tmp_path: Path) -> None:
    context = context_in(tmp_path)
    assert shell(tmp_path, "setsid sleep 61.5 & echo begun") == "begun"

    async def cancelled() -> None:
        call = asyncio.create_task(steps_of(run_shell, {"command": "touch here; sleep 61.5"}, context))
        await asyncio.to_thread(until, (context.workspace / "here").exists)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(cancelled())
    until(lambda: not any(map(lives, sleeping())), what="nothing sleeps any more")


def sleeping() -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if b"sleep\x0061.5" in path.read_bytes():
                found.append(int(path.parent.name))
        except OSError:
            continue
    return found


@pytest.mark.parametrize("command", ["", "  ", "a\0b"])
def test_nothing_is_run_without_a_command(command: str) -> None:
    (found,) = run_shell.problems({"command": command})
    assert found.startswith("command: Must not")
