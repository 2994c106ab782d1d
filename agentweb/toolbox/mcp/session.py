"""One connection to one MCP server, kept open by a task of its own, since the SDK wants it to end where it began."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import Any

import mcp_types as types
from mcp import Client
from mcp.client.session import IncomingMessage
from mcp.shared.dispatcher import ProgressFnT
from mcp.shared.exceptions import MCPError
from mcp_types.version import MODERN_PROTOCOL_VERSIONS
from pydantic import ValidationError

from agentweb.engine.messages import Json
from agentweb.toolbox.definitions import Offer
from agentweb.toolbox.mcp import reading
from agentweb.toolbox.mcp.mending import as_sent
from agentweb.toolbox.mcp.server import McpServer
from agentweb.toolbox.mcp.transports import Line, address_of, process_of

logger = logging.getLogger(__name__)

START_S = 30.0  # for a server to start and to say what it offers
LIST_S = 10.0
FRESH_S = 2.0  # a list that is younger is not asked for again
IDLE_S = 900.0  # a connection that nobody uses for so long is closed
MOST_PAGES = 50
MOST_TOOLS = 1_000


class ServerFailed(Exception):
    """The server cannot be used; says why in a sentence without secrets."""


class Session:
    """``changed`` is called with what the server offers whenever that is not what it offered before."""

    def __init__(self, server: McpServer, changed: Callable[[tuple[Offer, ...]], None]) -> None:
        self.server = server
        self.tools: dict[str, Mapping[str, Json]] = {}
        self._changed = changed
        self._line = Line()
        self._client: Client | None = None
        self._listed_at = float("-inf")
        self._used_at = asyncio.get_running_loop().time()
        self._listing: asyncio.Future[None] | None = None
        self._closing = asyncio.Event()
        self._began: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._live())

    @property
    def over(self) -> bool:
        return self._line.over.is_set() or self._closing.is_set() or self._task.done()

    @property
    def last_words(self) -> str:
        """What is known of its end, for admins."""
        return self.server.error(self._line.why or self._line.last_words)

    async def ready(self) -> None:
        """Wait until it can be used. Raises ServerFailed."""
        await asyncio.shield(self._began)

    def close_soon(self) -> None:
        self._closing.set()

    async def close(self) -> None:
        """End the connection, and the process if it has one."""
        self._closing.set()
        if not self._began.done():
            self._task.cancel()
        await asyncio.wait([self._task])

    async def list_again(self) -> None:
        """Have ``tools`` as they are now, or were a moment ago; many who want that make one request. Raises what a
        request raises, and TimeoutError."""
        if asyncio.get_running_loop().time() - self._listed_at < FRESH_S:
            return
        if self._listing is None or self._listing.done():
            self._listing = asyncio.ensure_future(self._list())
        await asyncio.shield(self._listing)

    async def call(self, name: str, arguments: Mapping[str, Json], on_progress: ProgressFnT) -> types.CallToolResult:
        """Raises MCPError and what the transport raises. Results are not held to the server's own schema: patterns in
        that could keep the loop busy, and nobody here relies on it."""
        self._used_at = asyncio.get_running_loop().time()
        assert self._client is not None
        request = types.CallToolRequest(params=types.CallToolRequestParams(name=name, arguments=dict(arguments)))
        return await self._client.session.send_request(request, types.CallToolResult, progress_callback=on_progress)

    async def read(self, uri: str) -> types.ReadResourceResult:
        """What a link in a result leads to, on the same server."""
        assert self._client is not None
        return await self._client.read_resource(uri)

    # --- the task ---------------------------------------------------------------------------------------------------

    async def _live(self) -> None:
        try:
            async with AsyncExitStack() as stack:
                async with asyncio.timeout(START_S):
                    self._client = await stack.enter_async_context(self._new_client())
                    await self._list()
                self._began.set_result(None)
                await self._until_the_end()
        except (Exception, BaseExceptionGroup) as error:
            if self._began.done():
                logger.info("The connection to the MCP server %s ended: %s", self.server.name, type(error).__name__)
            else:
                self._began.set_exception(ServerFailed(self._why(error)))
                self._began.exception()  # whoever waited is told; perhaps nobody does any more
        finally:
            if not self._began.done():
                self._began.cancel()
            self._line.over.set()

    def _new_client(self) -> Client:
        way = address_of if self.server.url else process_of
        return Client(way(self.server, self._line), cache=None, message_handler=self._told)

    async def _until_the_end(self) -> None:
        """Until the other side has ended, or nobody wants it any more."""
        loop = asyncio.get_running_loop()
        waits: list[asyncio.Task[Any]] = [asyncio.create_task(each.wait()) for each in (self._line.over, self._closing)]
        waits.append(asyncio.create_task(self._listen()))
        try:
            while not self.over and loop.time() - self._used_at < IDLE_S:
                await asyncio.wait(waits[:2], timeout=IDLE_S / 10, return_when=asyncio.FIRST_COMPLETED)
        finally:
            self._closing.set()
            for wait in waits:
                wait.cancel()
            await asyncio.gather(*waits, return_exceptions=True)

    async def _listen(self) -> None:
        """Servers of the newer protocol tell of changes only to those who ask for it."""
        assert self._client is not None
        if self._client.protocol_version not in MODERN_PROTOCOL_VERSIONS:
            return
        with contextlib.suppress(Exception):  # one that does not tell is looked at before each call anyway
            async with self._client.listen(tools_list_changed=True) as changes:
                async for _change in changes:
                    await self._look()

    async def _told(self, message: IncomingMessage) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            self._listing = asyncio.ensure_future(self._look())

    async def _look(self) -> None:
        with contextlib.suppress(Exception):
            await self._list()

    async def _list(self) -> None:
        assert self._client is not None
        found: dict[str, Mapping[str, Json]] = {}
        listed: list[Mapping[str, Json]] = []
        cursor: str | None = None
        async with asyncio.timeout(LIST_S):
            for _page in range(MOST_PAGES):
                page = await self._client.list_tools(cursor=cursor)
                for tool in page.tools:
                    said = tool.model_dump(mode="json", by_alias=True, exclude_none=True)
                    raw = reading.raw_of(said | {"inputSchema": as_sent(said["inputSchema"])})
                    listed.append(raw)
                    found.setdefault(tool.name, raw)
                cursor = page.next_cursor
                if not cursor or len(listed) >= MOST_TOOLS:
                    break
        self._listed_at = asyncio.get_running_loop().time()
        if found != self.tools or not self._began.done():
            self.tools = found
            self._changed(tuple(reading.offer(self.server.name, raw) for raw in listed[:MOST_TOOLS]))

    def _why(self, error: BaseException) -> str:
        """The reason, as far as it is worth telling."""
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if self.last_words and not self.server.url:
            return f"It ended or failed while it was started: {self.last_words}"
        match error:
            case TimeoutError():
                why = f"It did not answer within {START_S:g} s."
            case FileNotFoundError() | NotADirectoryError():
                why = f"There is no folder {self.server.folder}."
            case ValidationError():
                why = "It does not speak MCP as it should."
            case MCPError():
                why = f"It refused: {error.message}"
            case _:
                why = f"It could not be reached: {error or type(error).__name__}"
        return self.server.error(why)
