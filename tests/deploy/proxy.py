"""A plain reverse proxy, as a team would put one in front: each request goes to the next web process that answers."""

import asyncio
import contextlib
import re
import threading
from collections.abc import Sequence

PUT_BY_PROXY = (b"x-forwarded-for", b"x-forwarded-proto", b"connection")
HEAD_LIMIT = 64 * 1024
PIECE = 64 * 1024
CONNECTED_WITHIN_S = 5.0

Pair = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class Proxy:
    """Speaks for TLS that is not there. ``served`` lists what was asked for and the port of the process that got it."""

    def __init__(self, ports: Sequence[int]) -> None:
        self._ports = list(ports)
        self._turn = 0
        self.served: list[tuple[str, int]] = []
        self.port = 0
        self._loop = asyncio.new_event_loop()
        self._listening = threading.Event()
        self._thread = threading.Thread(target=self._run, name="proxy", daemon=True)

    def start(self) -> None:
        self._thread.start()
        assert self._listening.wait(CONNECTED_WITHIN_S)

    def stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def last(self, path: str) -> int:
        """The port of the process that last got a request for the path."""
        return next(port for asked, port in reversed(self.served) if asked.startswith(path))

    def _run(self) -> None:
        server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", 0, limit=HEAD_LIMIT),
        )
        self.port = server.sockets[0].getsockname()[1]
        self._listening.set()
        self._loop.run_forever()
        server.close()
        for task in asyncio.all_tasks(self._loop):
            task.cancel()
        self._loop.run_until_complete(asyncio.sleep(0.01))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request, or one websocket."""
        with contextlib.suppress(OSError, asyncio.IncompleteReadError):
            head = await reader.readuntil(b"\r\n\r\n")
            path = head.split(b" ", 2)[1].decode()
            behind = await self._next_that_answers(path)
            behind[1].write(_forwarded(head))
            await asyncio.wait(
                [asyncio.ensure_future(_pump(reader, behind[1])), asyncio.ensure_future(_pump(behind[0], writer))],
                return_when=asyncio.FIRST_COMPLETED if _upgrades(head) else asyncio.ALL_COMPLETED,
            )
            behind[1].close()
        writer.close()

    async def _next_that_answers(self, path: str) -> Pair:
        """Raises OSError when no process does."""
        for _ in self._ports:
            port = self._ports[self._turn % len(self._ports)]
            self._turn += 1
            with contextlib.suppress(OSError):
                pair = await asyncio.open_connection("127.0.0.1", port)
                self.served.append((path, port))
                return pair
        raise OSError("no web process answers")


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with contextlib.suppress(OSError):
        while piece := await reader.read(PIECE):
            writer.write(piece)
            await writer.drain()


def _upgrades(head: bytes) -> bool:
    return re.search(rb"^upgrade: *websocket", head, re.I | re.M) is not None


def _forwarded(head: bytes) -> bytes:
    """The head as the process behind sees it: whatever the client said of its way here is replaced."""
    first, *lines = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    kept = [line for line in lines if line.partition(b":")[0].strip().lower() not in PUT_BY_PROXY]
    connection = b"upgrade" if _upgrades(head) else b"close"
    added = [b"X-Forwarded-Proto: https", b"X-Forwarded-For: 192.0.2.1", b"Connection: " + connection]
    return b"\r\n".join([first, *kept, *added]) + b"\r\n\r\n"
