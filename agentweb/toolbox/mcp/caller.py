"""Calls of tools of MCP servers: over connections that stay open, and only as they were taken in."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import suppress

import httpx2
import mcp_types as types
from mcp.shared.exceptions import MCPError

from agentweb.engine.messages import Json
from agentweb.engine.ports import Output, Progress, ToolContext, ToolError
from agentweb.schema.json_text import digest
from agentweb.toolbox.definitions import Definition, Offer
from agentweb.toolbox.keeping import kept
from agentweb.toolbox.mcp.results import Receiver
from agentweb.toolbox.mcp.server import McpServer, Nobody, Observer
from agentweb.toolbox.mcp.session import ServerFailed, Session
from agentweb.toolbox.results import for_model

LONGEST_WAIT_S = 60.0  # between attempts to reach a server that fails
LONGEST_PROGRESS = 200
ENOUGH = 0.98  # of its time: a call that is ended then was ended for taking too long


class Sessions:
    """The connections of one event loop, by server."""

    def __init__(self) -> None:
        self._open: dict[str, Session] = {}
        self._failed: dict[str, tuple[float, int, str]] = {}  # when, how often in a row, why
        self._told: set[asyncio.Task[None]] = set()

    @property
    def standing(self) -> int:
        """How many connections there are that nobody has closed."""
        return sum(not session.over for session in self._open.values())

    async def ready(self, server: McpServer, observer: Observer) -> Session:
        """A connection that can be used. Raises ServerFailed, at once while it is too early to try again."""
        session = self._open.get(server.key)
        if session is None or session.over or session.server.fingerprint != server.fingerprint:
            if session is not None:
                session.close_soon()
            self._refuse_too_early(server)
            session = Session(server, lambda offers: self._seen(server, observer, offers))
            self._open[server.key] = session
        try:
            await session.ready()
        except ServerFailed as error:
            if self._open.get(server.key) is session:
                del self._open[server.key]
                self._count_failure(server, observer, str(error))
            raise
        return session

    def drop(self, session: Session, observer: Observer, why: str) -> None:
        """It is of no use any more; the next call makes another."""
        session.close_soon()
        if self._open.get(session.server.key) is session:
            del self._open[session.server.key]
            self.tell(lambda: observer.failed(session.server.error(why)))

    def tell(self, news: Callable[[], None]) -> None:
        """Let those who keep the books know, in a thread."""
        task = asyncio.create_task(_quietly(news))
        self._told.add(task)
        task.add_done_callback(self._told.discard)

    async def close(self) -> None:
        sessions, self._open = list(self._open.values()), {}
        await asyncio.gather(*(session.close() for session in sessions))
        await asyncio.gather(*self._told)

    def _seen(self, server: McpServer, observer: Observer, offers: tuple[Offer, ...]) -> None:
        self._failed.pop(server.key, None)
        self.tell(lambda: observer.seen(offers))

    def _refuse_too_early(self, server: McpServer) -> None:
        at, times, why = self._failed.get(server.key, (0.0, 0, ""))
        rest = at + min(LONGEST_WAIT_S, 2.0**times) - asyncio.get_running_loop().time() if times else 0.0
        if rest > 0:
            raise ServerFailed(f"{why} It is tried again in {max(1, round(rest))} s.")

    def _count_failure(self, server: McpServer, observer: Observer, why: str) -> None:
        _at, times, _why = self._failed.get(server.key, (0.0, 0, ""))
        self._failed[server.key] = (asyncio.get_running_loop().time(), times + 1, why)
        self.tell(lambda: observer.failed(why))


async def _quietly(news: Callable[[], None]) -> None:
    await asyncio.to_thread(news)


async def look_at(server: McpServer) -> tuple[Offer, ...]:
    """Connect once, and say what the server offers. Raises ServerFailed."""
    found: list[tuple[Offer, ...]] = []
    session = Session(server, found.append)
    try:
        await session.ready()
    finally:
        await session.close()
    return found[-1]


class McpCaller:
    """``limit_s``: how long the loop lets a call take."""

    def __init__(self, server: McpServer, limit_s: float, observer: Observer | None = None) -> None:
        self._server = server
        self._limit_s = limit_s
        self._observer = observer or Nobody()

    async def steps(
        self, definition: Definition, arguments: Mapping[str, Json], context: ToolContext
    ) -> AsyncGenerator[Progress | Output, None]:
        loop = asyncio.get_running_loop()
        began = loop.time()
        sessions = kept(Sessions)
        try:
            session = await self._looked_at(sessions, definition)
            news: asyncio.Queue[Progress | None] = asyncio.Queue()
            call = asyncio.create_task(self._called(session, definition, arguments, context, news))
            try:
                while (note := await news.get()) is not None:
                    yield note
                output = await call
            finally:
                call.cancel()  # its end is not waited for: a server that is stuck must not hold up whoever cancels
            yield Output(self._server.clean(output.content), self._server.clean(output.full))
        except asyncio.CancelledError:
            if loop.time() - began >= self._limit_s * ENOUGH:
                sessions.tell(lambda: self._observer.failed(f"A call got no answer in {self._limit_s:g} s."))
            raise

    async def _looked_at(self, sessions: Sessions, definition: Definition) -> Session:
        """A connection to a server that still defines the tool as it was taken in. Nothing is called before that."""
        for attempt in (1, 2):
            try:
                session = await sessions.ready(self._server, self._observer)
            except ServerFailed as error:
                raise ToolError(f"{self._server.name} cannot be used. {error}") from None
            try:
                await session.list_again()
            except Exception as error:
                sessions.drop(session, self._observer, f"It did not say what it offers: {_told(error)}")
                if attempt == 2:
                    raise ToolError(f"{self._server.name} does not answer.") from None
                continue
            self._compare(session, definition)
            return session
        raise AssertionError("unreachable")

    def _compare(self, session: Session, definition: Definition) -> None:
        raw = session.tools.get(definition.true_name)
        if raw is None:
            raise ToolError(f"Not called: {self._server.name} does not offer {definition.true_name} any more.")
        if digest([definition.true_name, dict(raw)]) != definition.source_digest:
            raise ToolError(
                f"Not called: {self._server.name} defines {definition.true_name} in another way now than when it was "
                "taken in. An admin must look at it first."
            )

    async def _called(
        self,
        session: Session,
        definition: Definition,
        arguments: Mapping[str, Json],
        context: ToolContext,
        news: "asyncio.Queue[Progress | None]",
    ) -> Output:
        async def progressed(progress: float, total: float | None, message: str | None) -> None:
            text = for_model(self._server.clean(message or ""), LONGEST_PROGRESS)
            news.put_nowait(Progress(text, min(1.0, max(0.0, progress / total)) if total else None))

        try:
            result = await session.call(definition.true_name, arguments, progressed)
            return await Receiver(context.workspace, context.call, session.read).output(result)
        except ToolError as error:
            raise ToolError(self._server.clean(str(error))) from None
        except MCPError as error:
            raise self._failure(session, error) from None
        except (ValueError, httpx2.HTTPError, OSError) as error:
            why = f"{self._server.name} gave no answer that can be read: {_told(error)}"
            raise ToolError(self._server.error(why)) from None
        finally:
            news.put_nowait(None)

    def _failure(self, session: Session, error: MCPError) -> ToolError:
        if error.code == types.CONNECTION_CLOSED:
            kept(Sessions).drop(session, self._observer, f"It ended in the middle of a call. {session.last_words}")
            return ToolError(
                f"{self._server.name} ended in the middle of this call; part of its effect may have happened."
            )
        return ToolError(self._server.error(f"{self._server.name} refused the call: {error.message}"))


def _told(error: BaseException) -> str:
    with suppress(Exception):
        return str(error).splitlines()[0] if str(error) else type(error).__name__
    return type(error).__name__
