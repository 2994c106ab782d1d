"""Tools that work in processes of their own, for tests of how those end."""

import os
import subprocess
import time
from collections.abc import AsyncIterator
from pathlib import Path

from agentweb.engine.ports import Progress, ToolContext, ToolError, ToolSuspension
from agentweb.toolbox.tool import tool

LONG_S = 60


@tool(label="Count", apart=True)
async def count_apart(context: ToolContext, to: int) -> AsyncIterator[Progress | str]:
    """Tells how far it is, and in which process."""
    print("This is no step.")
    yield Progress("counting", 0.5)
    yield f"{to} in {os.getpid()} for {context.call}"


@tool(label="Refuse", apart=True)
def refuse_apart(how: str) -> str:
    """Fails."""
    if how == "tool":
        raise ToolError("No such thing.")
    if how == "ask":
        raise ToolSuspension("Which one?", {"type": "object"})
    if how == "exit":
        os._exit(3)
    return str({}["bug"])


@tool(label="Block", apart=True)
def block_apart(context: ToolContext) -> str:
    """Starts a program that sleeps, and sleeps itself; the process ids are in the workspace."""
    program = subprocess.Popen(["sleep", str(LONG_S)])
    note(context.workspace, os.getpid(), program.pid)
    time.sleep(LONG_S)
    return "slept"


def note(workspace: Path, *pids: int) -> None:
    workspace.mkdir(parents=True, exist_ok=True)
    draft = workspace / "draft"
    draft.write_text(" ".join(map(str, pids)))
    draft.rename(workspace / "pids")


def noted(workspace: Path) -> list[int]:
    """The process ids, once they are there."""
    path = workspace / "pids"
    return [int(pid) for pid in path.read_text().split()] if path.exists() else []


def lives(pid: int) -> bool:
    """A process that has ended and that nobody has asked about yet lives no more."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
