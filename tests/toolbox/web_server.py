"""A web server on this machine for tests of tools: it answers each path with the bytes it was given, and remembers."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field


@dataclass
class WebServer:
    """``pages``: whole answers by path; ``requests``: head and body of each request that came."""

    pages: Mapping[str, bytes | Callable[[int], bytes]]
    port: int = 0
    requests: list[str] = field(default_factory=list)

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            lengths = [
                line.partition(":")[2] for line in head.splitlines() if line.lower().startswith("content-length")
            ]
            body = await reader.readexactly(int(lengths[0])) if lengths else b""
            self.requests.append(head + body.decode())
            page = self.pages.get(head.split(" ")[1], page_of("gone", status="404 Not Found"))
            writer.write(page(self.port) if callable(page) else page)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    @property
    def paths(self) -> list[str]:
        return [request.split(" ")[1] for request in self.requests]


@asynccontextmanager
async def serving(
    pages: Mapping[str, bytes | Callable[[int], bytes]], host: str = "127.0.0.1"
) -> AsyncIterator[WebServer]:
    served = WebServer(pages)
    server = await asyncio.start_server(served.answer, host, 0)
    served.port = server.sockets[0].getsockname()[1]
    async with server:
        yield served


def page_of(body: str | bytes, kind: str = "text/html", status: str = "200 OK", **headers: str) -> bytes:
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(data)}", "Connection: close"]
    lines += [f"Content-Type: {kind}"] if kind else []
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + data


def moved(where: str, status: str = "302 Found") -> bytes:
    return page_of("moved", status=status, Location=where)
