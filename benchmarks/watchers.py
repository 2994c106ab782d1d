"""Pages without a browser: one process that holds a websocket for each conversation, `python -m benchmarks.watchers`.

It is asked for addresses and a session, says `opened` when all sockets are open, and tells what came when every socket
has seen the end of a run, or when it is told to stop.
"""

import asyncio
import json
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from benchmarks.child import Child, answer, child
from benchmarks.load import Delays
from tests.fake_llm import TOKEN_RE

FINISHED = '"kind":"RunFinished"'
OPENING_AT_ONCE = 8


@dataclass(frozen=True)
class Watched:
    """``tokens`` and ``ended`` (seconds since 1970, None for a run whose end was not seen) by conversation."""

    delays: Delays
    tokens: list[int]
    ended: list[float | None]
    frames: int
    cpu_s: float


class Watching:
    """The open sockets."""

    def __init__(self, program: Child) -> None:
        self._program = program

    def result(self, patience_s: float) -> Watched:
        """Return when every socket has seen an end, or after ``patience_s``."""
        self._program.say({"patience_s": patience_s})
        told = self._program.hear()
        return Watched(Delays(**told.pop("delays")), **told)


@contextmanager
def watching(site_url: str, session: str, conversations: Sequence[str]) -> Iterator[Watching]:
    """Sockets on all conversations, open within the block."""
    with child("benchmarks.watchers") as program:
        program.say({"url": site_url, "session": session, "conversations": list(conversations)})
        assert program.hear() == {"opened": len(conversations)}
        yield Watching(program)


class Socket:
    """One page. A token counts when its number is the next one; pages are also sent words again in other forms."""

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self.frames = 0
        self.delays: list[int] = []
        self.ended: float | None = None

    async def read(self) -> None:
        async for frame in self._connection:
            now = time.time_ns() // 1000
            text = str(frame)
            self.frames += 1
            for number, written in TOKEN_RE.findall(text):
                if int(number) == len(self.delays):
                    self.delays.append(now - int(written))
            if FINISHED in text:
                self.ended = now / 1e6
                return


async def _open(url: str, session: str, conversations: Sequence[str]) -> list[Socket]:
    gate = asyncio.Semaphore(OPENING_AT_ONCE)
    base = url.replace("http", "ws", 1)

    async def opened(conversation: str) -> Socket:
        async with gate:
            address = f"{base}/ws/conversations/{conversation}/"
            return Socket(
                await connect(
                    address,
                    origin=Origin(url),
                    additional_headers={"Cookie": session},
                    compression=None,
                    ping_interval=None,
                    proxy=None,
                )
            )

    return list(await asyncio.gather(*map(opened, conversations)))


async def main() -> None:
    asked = json.loads(sys.stdin.readline())
    sockets = await _open(asked["url"], asked["session"], asked["conversations"])
    tasks = [asyncio.create_task(socket.read()) for socket in sockets]
    answer({"opened": len(sockets)})
    wanted = json.loads(await asyncio.to_thread(sys.stdin.readline) or "null")
    if wanted is None:
        return
    await asyncio.wait(tasks, timeout=wanted["patience_s"])
    answer(_told(sockets))
    for task in tasks:
        task.cancel()


def _told(sockets: Sequence[Socket]) -> dict[str, Any]:
    delays = [delay for socket in sockets for delay in socket.delays]
    return {
        "delays": vars(Delays.of(delays or [0])),
        "tokens": [len(socket.delays) for socket in sockets],
        "ended": [socket.ended for socket in sockets],
        "frames": sum(socket.frames for socket in sockets),
        "cpu_s": time.process_time(),
    }


if __name__ == "__main__":
    asyncio.run(main())
