"""A model server that answers with recorded bytes over real HTTP, and keeps the requests it got."""

import asyncio
import base64
import json
import re
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

Frame = str | bytes | dict[str, Any]
_HTTP_DATE = re.compile(r"\{\{http_date:\+(\d+)\}\}")


@dataclass
class FakeProvider:
    """``answers``: one list of frames per request, in order; the last one is given again and again."""

    answers: Sequence[Sequence[Frame]]
    time_scale: float = 1.0
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    arrivals: list[float] = field(default_factory=list)
    closed_by_client: asyncio.Event = field(default_factory=asyncio.Event)
    base_url: str = ""

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await self._answer(reader, writer)
        except ConnectionError:
            self.closed_by_client.set()
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        frames = self.answers[min(len(self.requests), len(self.answers) - 1)]
        self.arrivals.append(time.monotonic())
        self.headers.append(headers)
        self.requests.append(json.loads(body) if body else {})
        if frames and isinstance(frames[0], dict) and "status" in frames[0]:
            await _whole(writer, frames[0])
            return
        gone = asyncio.ensure_future(reader.read(1))
        gone.add_done_callback(lambda _: self.closed_by_client.set())
        await self._stream(writer, frames)
        gone.cancel()

    async def _stream(self, writer: asyncio.StreamWriter, frames: Sequence[Frame]) -> None:
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n"
            b"connection: close\r\n\r\n"
        )
        for frame in frames:
            if isinstance(frame, dict) and "delay_s" in frame:
                await asyncio.sleep(frame["delay_s"] * self.time_scale)
                continue
            if isinstance(frame, dict) and frame.get("close"):
                await writer.drain()
                writer.transport.abort() if frame.get("reset") else writer.close()
                return
            data = frame_bytes(frame)
            writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
            await writer.drain()
            await asyncio.sleep(0)
        writer.write(b"0\r\n\r\n")
        await writer.drain()


async def _whole(writer: asyncio.StreamWriter, answer: dict[str, Any]) -> None:
    body = str(answer.get("body", "")).encode()
    lines = [f"HTTP/1.1 {answer['status']} Status"]
    for name, value in {"content-length": str(len(body)), "connection": "close", **answer.get("headers", {})}.items():
        lines.append(f"{name}: {_HTTP_DATE.sub(_date, value)}")
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
    await writer.drain()


def _date(found: re.Match[str]) -> str:
    return format_datetime(datetime.now(UTC) + timedelta(seconds=int(found[1])), usegmt=True)


def frame_bytes(frame: Frame) -> bytes:
    """The bytes that one frame writes."""
    if isinstance(frame, bytes):
        return frame
    return frame.encode() if isinstance(frame, str) else base64.b64decode(frame["bytes_b64"])


def split_answers(frames: Sequence[Frame]) -> list[list[Frame]]:
    """A case file's frames as answers: each whole response is one, what stands behind answers the next request."""
    answers: list[list[Frame]] = [[]]
    for frame in frames:
        if isinstance(frame, dict) and "status" in frame:
            answers[-1:] = [[frame], []] if not answers[-1] else [answers[-1], [frame], []]
        else:
            answers[-1].append(frame)
    return [answer for answer in answers if answer] or [[]]


@asynccontextmanager
async def serve(*answers: Sequence[Frame], time_scale: float = 1.0) -> AsyncIterator[FakeProvider]:
    provider = FakeProvider(answers, time_scale)
    server = await asyncio.start_server(provider.handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    provider.base_url = f"http://127.0.0.1:{port}/v1"
    try:
        yield provider
    finally:
        server.close()
        await server.wait_closed()


def event(delta: dict[str, Any] | None = None, finish: str | None = None, **more: Any) -> str:
    """One chat-completion chunk as a server-sent event."""
    chunk = {"choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}], **more}
    return f"data: {json.dumps(chunk)}\n\n"


DONE = "data: [DONE]\n\n"
