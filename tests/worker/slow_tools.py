"""Tools that take a minute unless something ends them: named to the worker by TOOLBOX_MODULES."""

import asyncio
import os
import subprocess
import threading
import time
from pathlib import Path

from agentweb.engine.enums import Risk
from agentweb.engine.ports import ToolContext
from agentweb.toolbox.tool import tool

LONG_S = 60
FOLDER = "SLOW_TOOLS_FOLDER"


def _note(name: str, *pids: int) -> None:
    """Process ids, once they can be looked at; the folder is emptied by the test."""
    folder = Path(os.environ[FOLDER])
    (folder / "draft").write_text(" ".join(map(str, pids)))
    (folder / "draft").rename(folder / name)


def begun() -> list[int] | None:
    """The processes of the tool that works, or None before there is one."""
    path = Path(os.environ[FOLDER]) / "begun"
    return [int(pid) for pid in path.read_text().split()] if path.exists() else None


def forget() -> None:
    """Nothing has begun or ended yet."""
    for name in ("begun", "ended"):
        (Path(os.environ[FOLDER]) / name).unlink(missing_ok=True)


def ended() -> bool:
    """Whether a tool that works in the worker itself has come to its end."""
    return (Path(os.environ[FOLDER]) / "ended").exists()


@tool(label="Slow, async", risk=Risk.LOW)
async def slow_async() -> str:
    """Waits in the loop."""
    _note("begun")
    try:
        await asyncio.sleep(LONG_S)
    finally:
        _note("ended")
    return "waited"


@tool(label="Slow, asking", risk=Risk.LOW)
def slow_asking(context: ToolContext) -> str:
    """Works in a thread, and asks now and then whether it shall go on."""
    _note("begun")
    while not context.cancelled():
        threading.Event().wait(0.02)
    _note("ended")
    return "stopped"


@tool(label="Slow, blocking", risk=Risk.LOW, apart=True)
def slow_blocking() -> str:
    """Blocks, in a process of its own."""
    _note("begun", os.getpid())
    time.sleep(LONG_S)
    return "slept"


@tool(label="Slow, program", risk=Risk.LOW, apart=True)
def slow_program() -> str:
    """Runs another program."""
    with subprocess.Popen(["sleep", str(LONG_S)]) as program:
        _note("begun", os.getpid(), program.pid)
    return "ran"
