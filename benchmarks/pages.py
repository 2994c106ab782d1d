"""Pages without a browser whose sockets are cut, `python -m benchmarks.pages`: what they show in the end.

They do what the scripts of the page do: apply the operations of each frame to blocks, come back with their cursor,
and take a message that has ended from its card. Asked for addresses, a session and how often to cut; says `opened`,
then tells.
"""

import asyncio
import json
import random
import sys
import time
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import httpx2
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed
from websockets.typing import Origin

from benchmarks.child import answer
from tests.fake_llm import TOKEN_RE
from tests.render.browser import text_of

Cursor = tuple[int, int]


class Hole(Exception):
    """Words are missing in front of what came."""


@dataclass
class Block:
    text: str = ""
    done: bool = False


@dataclass
class Message:
    """What stands in an article while it is being written."""

    blocks: list[Block] = field(default_factory=list)

    def forget_open(self) -> None:
        self.blocks = [block for block in self.blocks if block.done]

    def apply(self, ops: list[list[Any]]) -> None:
        """Raises Hole."""
        for kind, at, *rest in ops:
            if kind == "replace":
                self.blocks = [Block(text_of(html), True) for html in at]
                continue
            while len(self.blocks) <= at:
                self.blocks.append(Block())
            block = self.blocks[at]
            if block.done:
                continue
            if kind == "text":
                offset, words = rest
                if offset > len(block.text):
                    raise Hole
                block.text += words[len(block.text) - offset :]
            else:
                block.text = "" if kind == "code" else text_of(rest[0])
            block.done = kind == "done"

    def tokens(self) -> list[int]:
        return [int(number) for number, _at in TOKEN_RE.findall("\n".join(block.text for block in self.blocks))]


class Page:
    """One conversation. ``doubled`` and ``disordered`` are counted in what was shown at every moment, also before the
    end."""

    def __init__(self, asked: dict[str, Any], conversation: str) -> None:
        self._asked, self._conversation = asked, conversation
        self._cursor: Cursor = (0, 0)
        self._run = ""
        self.messages: dict[str, Message] = {}
        self.socket: ClientConnection | None = None
        self.cuts = self.holes = self.doubled = self.disordered = self.skipped = 0
        self.final: list[int] = []
        self.ended = False

    async def open(self) -> None:
        base = self._asked["url"].replace("http", "ws", 1)
        place = f"?run={self._run}&after={self._cursor[0]}-{self._cursor[1]}" if self._run else ""
        self.socket = await connect(
            f"{base}/ws/conversations/{self._conversation}/{place}",
            origin=Origin(self._asked["url"]),
            additional_headers={"Cookie": self._asked["session"]},
            compression=None,
            ping_interval=None,
            max_size=None,
            proxy=None,
        )

    async def live(self) -> None:
        while not self.ended:
            with suppress(ConnectionClosed, Hole, OSError):
                await self._read()
            while not self.ended:
                try:
                    await self.open()
                    break
                except (OSError, ConnectionClosed, TimeoutError):
                    await asyncio.sleep(0.1)
        if self.socket:
            await self.socket.close()

    async def be_cut(self, times: int, within_s: float) -> None:
        """At random moments from now on."""
        begun = time.monotonic()
        for moment in sorted(random.uniform(0, within_s) for _ in range(times)):
            await asyncio.sleep(max(0.0, begun + moment - time.monotonic()))
            if self.ended:
                return
            if self.socket:
                self.cuts += 1
                self.socket.transport.abort()

    async def _read(self) -> None:
        assert self.socket is not None
        async for received in self.socket:
            frame = json.loads(received)
            if "run" in frame:
                self.take(frame)
            if self.ended:
                return

    def take(self, frame: dict[str, Any]) -> None:
        """Raises Hole when the frame does not join on."""
        if "c" in frame:
            at = _place(frame["c"])
            if frame["run"] == self._run and at <= self._cursor:
                return
            if _place(frame["p"]) != (self._cursor if frame["run"] == self._run else (0, 0)):
                self.holes += 1
                raise Hole
            self._run, self._cursor = frame["run"], at
        try:
            self._show(frame)
        except Hole:
            self.holes += 1
            self._cursor = (self._cursor[0], 0)
            raise
        self.ended = any(event["kind"] == "RunFinished" for event in frame.get("events", ()))

    def _show(self, frame: dict[str, Any]) -> None:
        for kind, identity in frame.get("cards", ()):
            if kind == "message":
                self.messages.setdefault(identity, Message())
        if written := frame.get("snapshot"):
            message = self.messages.setdefault(written["message"], Message())
            message.forget_open()
            message.apply(written["ops"])
        elif frame.get("ops"):
            message = self.messages.setdefault(frame["message"], Message())
            message.apply(frame["ops"])
        else:
            return
        self._look_at(message.tokens())

    def _look_at(self, tokens: list[int]) -> None:
        """The words on the page must at every moment be the first ones, each once and in order."""
        self.doubled = max(self.doubled, len(tokens) - len(set(tokens)))
        self.disordered = max(self.disordered, sum(one > other for one, other in pairwise(tokens)))
        self.skipped = max(self.skipped, max(tokens, default=-1) + 1 - len(set(tokens)))

    async def read_card(self, client: httpx2.AsyncClient) -> None:
        """The message as it stands on the page when it has ended; nothing of it when no socket told of one."""
        for identity in self.messages:
            card = (await client.get(f"/cards/message/{identity}")).raise_for_status()
            self.final += [int(number) for number, _at in TOKEN_RE.findall(text_of(card.text))]

    def told(self, tokens: int) -> dict[str, int]:
        lost = len(set(range(tokens)) - set(self.final))
        shown = len({token for message in self.messages.values() for token in message.tokens()})
        return {
            "lost": max(lost, self.skipped),
            "doubled": max(self.doubled, len(self.final) - len(set(self.final))),
            "disordered": max(self.disordered, int(self.final != sorted(self.final))),
            "cuts": self.cuts,
            "holes": self.holes,
            "live": shown,
            "ended": int(self.ended),
        }


def _place(cursor: str) -> Cursor:
    event, _, delta = cursor.partition("-")
    return int(event), int(delta)


async def main() -> None:
    asked = json.loads(sys.stdin.readline())
    pages = [Page(asked, conversation) for conversation in asked["conversations"]]
    for page in pages:
        await page.open()
    tasks = [asyncio.create_task(page.live()) for page in pages]
    answer({"opened": len(pages)})
    load = json.loads(await asyncio.to_thread(sys.stdin.readline) or "null")
    if load is None:
        return
    cutting = [asyncio.create_task(page.be_cut(load["cuts"], load["within_s"])) for page in pages]
    await asyncio.wait(tasks, timeout=load["patience_s"])
    for task in (*tasks, *cutting):
        task.cancel()
    headers = {"Cookie": asked["session"]}
    async with httpx2.AsyncClient(base_url=asked["url"], headers=headers, timeout=60, trust_env=False) as client:
        for page in pages:
            await page.read_card(client)
    answer({"pages": [page.told(load["tokens"]) for page in pages]})


if __name__ == "__main__":
    asyncio.run(main())
