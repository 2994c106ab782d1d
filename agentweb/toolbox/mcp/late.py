"""A caller of tools of MCP servers that loads the SDK with the first call: who only shows a call needs none of it."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing
from importlib import import_module
from typing import Any

from agentweb.engine.messages import Json
from agentweb.engine.ports import Output, Progress, ToolContext
from agentweb.toolbox.definitions import Definition
from agentweb.toolbox.mcp.server import McpServer, Observer
from agentweb.toolbox.results import for_model


class LateCaller:
    """``limit_s``: how long the loop lets a call take."""

    def __init__(self, server: McpServer, limit_s: float, observer: Observer) -> None:
        self._server = server
        self._limit_s = limit_s
        self._observer = observer

    def effect(self, definition: Definition, arguments: Mapping[str, Json]) -> str:
        return for_model(f"Calls {definition.true_name} of {self._server.name}.")

    async def steps(
        self, definition: Definition, arguments: Mapping[str, Json], context: ToolContext
    ) -> AsyncGenerator[Progress | Output, None]:
        module: Any = await asyncio.to_thread(import_module, "agentweb.toolbox.mcp.caller")  # takes a second
        caller = module.McpCaller(self._server, self._limit_s, self._observer)
        async with aclosing(caller.steps(definition, arguments, context)) as steps:
            async for step in steps:
                yield step
