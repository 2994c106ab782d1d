"""The two ways to a server: a process of our own, and an address. In neither can a server fill our memory or keep the
loop from other work."""

import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import Process
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import anyio
import httpx2
import mcp_types as types
from mcp.client._transport import TransportStreams
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.message import SessionMessage

from agentweb.toolbox.mcp import child
from agentweb.toolbox.mcp.mending import Mended
from agentweb.toolbox.mcp.server import McpServer

LONGEST_LINE = 8 * 1024 * 1024  # bytes; a message is one line
LINES_AT_ONCE = 500  # in a second; a server that says more is read more slowly
LONGEST_BODY = 8 * 1024 * 1024
TAIL = 4_000  # bytes of what it writes to stderr
FLOOD_PAUSE_S = 0.05
LAST_WORDS_S = 0.5
PATIENCE_S = 2.0  # for a process to end by itself, and again after it was asked to
CONNECT_S = 10.0


class Line:
    """What is told of a connection by whoever reads it: ``over`` once it has ended, and the last words on stderr."""

    def __init__(self) -> None:
        self.over = asyncio.Event()
        self.why = ""
        self._tail = b""

    def heard(self, words: bytes) -> None:
        self._tail = (self._tail + words)[-TAIL:]

    @property
    def last_words(self) -> str:
        return self._tail.decode("utf-8", "replace").strip()


@asynccontextmanager
async def process_of(server: McpServer, line: Line) -> AsyncGenerator[TransportStreams, None]:
    """Start the server and speak with it in lines. Raises OSError where that is impossible."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", child.__file__, str(os.getpid()), server.command, *server.arguments),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=server.environment(),
        cwd=Path(server.folder) if server.folder else None,
        start_new_session=True,
        limit=LONGEST_LINE,
    )
    heard, said = anyio.create_memory_object_stream[SessionMessage | Exception](0), _stream()
    overheard = asyncio.ensure_future(_overhear(process, line))
    tasks = [
        asyncio.ensure_future(_read(process, heard[0], line, overheard)),
        asyncio.ensure_future(_write(process, said[1])),
        overheard,
    ]
    try:
        yield Mended(heard[1]), said[0]
    finally:
        for each in (*heard, *said):
            each.close()
        await asyncio.shield(asyncio.ensure_future(_end(process, tasks)))


def _stream() -> tuple[
    anyio.streams.memory.MemoryObjectSendStream[SessionMessage],
    anyio.streams.memory.MemoryObjectReceiveStream[SessionMessage],
]:
    return anyio.create_memory_object_stream[SessionMessage](0)


async def _read(
    process: Process,
    to: anyio.streams.memory.MemoryObjectSendStream[SessionMessage | Exception],
    line: Line,
    overheard: "asyncio.Future[None]",
) -> None:
    """Pass on what the server says. Its end is told once its last words are known, if they come at all."""
    assert process.stdout is not None
    loop = asyncio.get_running_loop()
    began, count = loop.time(), 0
    try:
        async with to:
            while text := await process.stdout.readline():
                await to.send(_message(text))
                count += 1
                if count >= LINES_AT_ONCE:
                    await asyncio.sleep(max(0.0, began + 1 - loop.time()))
                    began, count = loop.time(), 0
            await asyncio.wait([overheard], timeout=LAST_WORDS_S)
    except ValueError:
        line.why = f"it said something longer than {LONGEST_LINE // 1024 // 1024} MB at once"
    except (anyio.BrokenResourceError, anyio.ClosedResourceError):
        return
    finally:
        line.over.set()


def _message(text: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(text, by_name=False))
    except ValueError as error:
        return error


async def _write(process: Process, what: anyio.streams.memory.MemoryObjectReceiveStream[SessionMessage]) -> None:
    assert process.stdin is not None
    with contextlib.suppress(OSError, anyio.ClosedResourceError):
        async for said in what:
            text = said.message.model_dump_json(by_alias=True, exclude_unset=True)
            process.stdin.write(text.encode("utf-8", "replace") + b"\n")
            await process.stdin.drain()
    what.close()


async def _overhear(process: Process, line: Line) -> None:
    """Keep the end of stderr. It is read slowly, so that who floods it waits."""
    assert process.stderr is not None
    while words := await process.stderr.read(65_536):
        line.heard(words)
        if len(words) > TAIL:
            await asyncio.sleep(FLOOD_PAUSE_S)


async def _end(process: Process, tasks: Sequence["asyncio.Future[None]"]) -> None:
    """Close its input, then ask it and all that it started to end, then end them."""
    assert process.stdin is not None
    process.stdin.close()
    for signal_number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), PATIENCE_S)
            break
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal_number)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)  # whatever it leaves behind
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def address_of(server: McpServer, line: Line) -> AsyncGenerator[TransportStreams, None]:
    """Speak with the server at its address. Redirects stay on its origin; no proxy of the environment is asked."""
    client = httpx2.AsyncClient(
        headers={"Accept-Encoding": "identity", **server.values},
        timeout=httpx2.Timeout(CONNECT_S, read=None),
        trust_env=False,
        transport=_Bounded(),
    )
    async with client, streamable_http_client(server.url, http_client=client) as (heard, said):
        yield Mended(heard), said


class _Bounded(httpx2.AsyncHTTPTransport):
    """Answers that are no streams end where they become too long."""

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        if not response.headers.get("content-type", "").startswith("text/event-stream"):
            assert isinstance(response.stream, httpx2.AsyncByteStream)
            response.stream = _AtMost(response.stream)
        return response


class _AtMost(httpx2.AsyncByteStream):
    def __init__(self, stream: httpx2.AsyncByteStream) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        size = 0
        async for piece in self._stream:
            size += len(piece)
            if size > LONGEST_BODY:
                raise httpx2.ReadError(f"The answer is longer than {LONGEST_BODY // 1024 // 1024} MB.")
            yield piece

    async def aclose(self) -> None:
        await self._stream.aclose()
