"""What the product is compared with: readers of the same streams from the same server.

`python -m benchmarks.readers raw|sdk`. raw (R0): aiohttp alone, nothing taken apart but for the moments in the tokens.
sdk (R1): the loop that the openai SDK shows in its documentation, `create(stream=True)` with typed chunks.
"""

import asyncio
import json
import resource
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import aiohttp
from openai import AsyncOpenAI

from benchmarks.child import answer, child
from benchmarks.load import Delays, Load
from tests.fake_llm import TOKEN_RE

OPENING_S = 1.0
OPENED_IN_A_SECOND = 50  # streams
RAW, SDK = "raw", "sdk"


@dataclass(frozen=True)
class Reading:
    """``cpu_us`` is user and system time per token, from before the first token to behind the last stream."""

    cpu_us: float
    delays: Delays


def read(kind: str, load: Load, model_url: str) -> Reading:
    """Read the load in a process of its own, from connections that are open before the first token comes."""
    with child("benchmarks.readers", kind) as program:
        program.say({"url": model_url, "load": load.as_json()})
        told = program.hear()
    return Reading(told["cpu_us"], Delays(**told["delays"]))


class Reader:
    """Reads all streams of a load at once, as fast as ``pieces`` gives their text."""

    def __init__(self, load: Load, pieces: Callable[[str], AsyncIterator[str]]) -> None:
        self._load = load
        self._pieces = pieces
        self._delays: list[int] = []

    async def run(self) -> dict[str, Any]:
        first = time.time() + OPENING_S + self._load.runs / OPENED_IN_A_SECOND
        streams = [asyncio.create_task(self._read(begins)) for begins in self._load.begins(first)]
        await asyncio.sleep(first - time.time())
        before = cpu_seconds()
        await asyncio.gather(*streams)
        spent = cpu_seconds() - before
        expected = self._load.runs * self._load.tokens
        assert len(self._delays) == expected, f"{len(self._delays)} of {expected} tokens"
        return {"cpu_us": spent / expected * 1e6, "delays": vars(Delays.of(self._delays))}

    async def _read(self, begins: float) -> None:
        async for text in self._pieces(self._load.message_after(begins - time.time())):
            now = time.time_ns() // 1000
            self._delays += [now - int(written) for _number, written in TOKEN_RE.findall(text)]


def cpu_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


async def raw(url: str, load: Load) -> dict[str, Any]:
    endless = aiohttp.ClientTimeout(total=None)
    connector = aiohttp.TCPConnector(limit=0)
    async with aiohttp.ClientSession(timeout=endless, connector=connector) as session:

        async def pieces(message: str) -> AsyncIterator[str]:
            body = {"model": "fake", "stream": True, "messages": [{"role": "user", "content": message}]}
            async with session.post(f"{url}/chat/completions", json=body) as response:
                async for chunk in response.content.iter_any():
                    yield chunk.decode()

        return await Reader(load, pieces).run()


async def sdk(url: str, load: Load) -> dict[str, Any]:
    async with AsyncOpenAI(base_url=url, api_key="none") as client:

        async def pieces(message: str) -> AsyncIterator[str]:
            stream = await client.chat.completions.create(
                model="fake", messages=[{"role": "user", "content": message}], stream=True
            )
            async for chunk in stream:
                if chunk.choices and chunk.choices[0].delta.content:
                    yield chunk.choices[0].delta.content

        return await Reader(load, pieces).run()


KINDS: dict[str, Callable[[str, Load], Awaitable[dict[str, Any]]]] = {RAW: raw, SDK: sdk}


async def main() -> None:
    asked = json.loads(sys.stdin.readline())
    answer(await KINDS[sys.argv[1]](asked["url"], Load(**asked["load"])))


if __name__ == "__main__":
    asyncio.run(main())
