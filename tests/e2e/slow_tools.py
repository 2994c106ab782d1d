"""A tool for tests that look at a run while a tool works: named to the site by TOOLBOX_MODULES."""

import asyncio
from collections.abc import AsyncIterator

from agentweb.engine.enums import Risk
from agentweb.engine.ports import Progress, ToolContext
from agentweb.toolbox.tool import tool

STEP_SECONDS = 0.1


@tool(label="Dig", reads=True, repeatable=True, risk=Risk.LOW, timeout_s=120)
async def dig(context: ToolContext, seconds: float, until: str = "") -> AsyncIterator[Progress | str]:
    """Works for some seconds and says how far it is.

    Args:
        seconds: How long it takes, at most.
        until: A file of the workspace; once it is there, the work is done.
    """
    steps = max(1, round(seconds / STEP_SECONDS))
    for step in range(steps):
        if until and (context.workspace / until).exists():
            break
        yield Progress(f"dug {step} of {steps}", step / steps)
        await asyncio.sleep(STEP_SECONDS)
    yield "a hole"
