"""Running a tool once for an admin, for real, in a folder of its own that is gone afterwards."""

import asyncio
import tempfile
import time
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from agentweb.engine import previewing, sentences
from agentweb.engine.ports import Output, Tool, ToolContext, ToolError, ToolSuspension
from agentweb.registry import outside
from agentweb.toolbox.keeping import close_kept
from agentweb.toolbox.workspace import Entry, Workspace

LONGEST_S = 60.0


@dataclass(frozen=True, slots=True)
class Tried:
    """How it went. ``kind``: ok, error, timeout or suspended; ``files``: what lies in the folder afterwards;
    ``effect``: what its preview said before, where it has one."""

    kind: str
    text: str
    seconds: float
    files: tuple[Entry, ...]
    effect: str = ""


def try_tool(tool: Tool, arguments: Mapping[str, Any], *, timeout_s: float) -> Tried:
    """Run the tool with arguments that have no problems. Never raises for what the tool does."""
    with tempfile.TemporaryDirectory(prefix="agentweb-try-") as name:
        folder = Path(name) / "workspace"
        preview = previewing.look(tool, arguments, outside.context("try", folder))
        limit, began = min(timeout_s, LONGEST_S), time.monotonic()
        kind, text = asyncio.run(_outcome(tool, arguments, folder, limit))
        seconds = time.monotonic() - began
        files = tuple(Workspace(folder).list()) if folder.exists() else ()
        return Tried(kind, text, seconds, files, preview.effect if preview else "")


async def _outcome(tool: Tool, arguments: Mapping[str, Any], folder: Path, limit: float) -> tuple[str, str]:
    context = outside.context(f"try-{uuid4()}", folder)
    try:
        async with asyncio.timeout(limit):
            output = await _output(tool, arguments, context)
        return "ok", output.full or output.content or sentences.NO_OUTPUT
    except ToolSuspension as suspension:
        return "suspended", suspension.prompt
    except ToolError as error:
        return "error", str(error) or sentences.crashed(error)
    except TimeoutError:
        return "timeout", sentences.timed_out(limit)
    except Exception as error:
        return "error", sentences.crashed(error)
    finally:
        await close_kept()


async def _output(tool: Tool, arguments: Mapping[str, Any], context: ToolContext) -> Output:
    async with aclosing(tool.execute(arguments, context)) as steps:  # type: ignore[type-var]
        async for step in steps:
            if isinstance(step, Output):
                return step
    return Output("")
