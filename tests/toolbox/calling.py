"""What a test hands to a tool in place of the world: a folder, a clock and a cancel flag."""

import asyncio
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentweb.engine.ports import Output, Progress, Tool, ToolContext

NOW = datetime(2026, 8, 1, 22, 30, 5, tzinfo=UTC)


def context_in(folder: Path, cancelled: Callable[[], bool] = lambda: False) -> ToolContext:
    return ToolContext(call="call-1", workspace=folder / "workspace", now=lambda: NOW, cancelled=cancelled)


async def steps_of(tool: Tool, arguments: Mapping[str, Any], context: ToolContext) -> list[Progress | Output]:
    assert tool.problems(arguments) == []
    return [step async for step in tool.execute(arguments, context)]


def run(tool: Tool, arguments: Mapping[str, Any], context: ToolContext) -> str:
    """The text that the model would read."""
    (output,) = asyncio.run(steps_of(tool, arguments, context))
    assert isinstance(output, Output)
    return output.content
