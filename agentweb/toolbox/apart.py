"""A tool in a process of its own, which ends with a cancel, a time-out or the worker, and with it all that it started.

`steps` is the worker's side. The other side is `python -m agentweb.toolbox.apart`: one line of JSON says what to do,
then each step is told in a line. It ends itself, and its process group, when nobody holds its input open any more.
"""

import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import IO, Any

from agentweb.engine.messages import Json
from agentweb.engine.ports import Output, Progress, ToolContext, ToolError, ToolSuspension, ToolUnavailable
from agentweb.toolbox.ending import end

LONGEST_LINE = 64 * 1024 * 1024  # bytes; a result is one line
ERRORS: dict[str, type[Exception]] = {"ToolError": ToolError, "ToolUnavailable": ToolUnavailable}


class ProcessFailed(Exception):
    """The tool's process ended without a result, or its function failed; the text says how."""


async def steps(
    module: str, name: str, arguments: Mapping[str, Json], context: ToolContext
) -> AsyncGenerator[Progress | Output, None]:
    """What the tool ``name`` of ``module`` gives, worked out in a new process. Closing it kills the process group.

    Raises what the tool raises for the model or the loop, and ProcessFailed for everything else."""
    asked = {
        "module": module,
        "name": name,
        "arguments": dict(arguments),
        "context": {
            "call": context.call,
            "workspace": str(context.workspace),
            "secrets": dict(context.secrets),
            "answer_at": context.answer_at,
        },
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", __name__),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,
        limit=LONGEST_LINE,
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        process.stdin.write(json.dumps(asked).encode() + b"\n")
        while line := await process.stdout.readline():
            yield _step(json.loads(line))
        if await process.wait():
            raise ProcessFailed(f"The tool's process ended with {process.returncode}.")
    finally:
        await end(process)


def _step(told: dict[str, Any]) -> Progress | Output:
    match told:
        case {"progress": [text, fraction]}:
            return Progress(text, fraction)
        case {"content": content, "full": full}:
            return Output(content, full)
        case {"error": "ToolSuspension", "text": text, "schema": schema}:
            raise ToolSuspension(text, schema)
        case {"error": kind, "text": text}:
            raise ERRORS.get(kind, ProcessFailed)(text)
    raise ProcessFailed("The tool's process said something else than its steps.")


# --- the other side -----------------------------------------------------------------------------------------------


def main() -> None:
    told = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what the function prints is no step
    asked = json.loads(sys.stdin.readline())
    threading.Thread(target=_end_with_the_worker, daemon=True).start()
    asyncio.run(_work(asked, told))


def _end_with_the_worker() -> None:
    sys.stdin.read()
    os.killpg(os.getpgid(0), signal.SIGKILL)


async def _work(asked: dict[str, Any], told: IO[str]) -> None:
    def tell(**step: Any) -> None:
        print(json.dumps(step), file=told, flush=True)

    try:
        context = _context(**asked["context"])
        tool = replace(_tool(asked["module"], asked["name"]), apart=False)
        async for step in tool.execute(asked["arguments"], context):
            if isinstance(step, Progress):
                tell(progress=[step.text, step.fraction])
            else:
                tell(content=step.content, full=step.full)
    except ToolSuspension as suspension:
        tell(error="ToolSuspension", text=suspension.prompt, schema=suspension.schema)
    except ToolError as error:
        tell(error="ToolUnavailable" if isinstance(error, ToolUnavailable) else "ToolError", text=str(error))
    except Exception as error:
        tell(error=type(error).__name__, text=f"{type(error).__name__}: {error}")


def _context(call: str, workspace: str, secrets: dict[str, str], answer_at: str = "") -> ToolContext:
    """A cancel ends the process, so nobody need ask for one."""
    now, never = lambda: datetime.now(UTC), lambda: False
    return ToolContext(call, Path(workspace), now, never, secrets=secrets, answer_at=answer_at)


def _tool(module: str, name: str) -> Any:
    found = (value for value in vars(import_module(module)).values() if hasattr(value, "spec"))
    return next(value for value in found if value.spec.name == name)


if __name__ == "__main__":
    main()
