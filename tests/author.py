"""A worker's part in tests of what others see: it journals and speaks as the driver does."""

import asyncio
import random
from contextlib import asynccontextmanager, suppress
from uuid import uuid4

from asgiref.sync import sync_to_async

from agentweb.engine.enums import DeltaKind, Outcome, Reason
from agentweb.engine.events import (
    Batch,
    Delta,
    MessageFinished,
    ModelRequested,
    RunFinished,
    TurnFinished,
    TurnStarted,
)
from agentweb.engine.messages import AssistantMessage
from agentweb.engine.usage import Usage
from agentweb.runs import journal
from agentweb.worker.flusher import Flusher
from tests.cast import Cast, make_cast, make_worker

WINDOW_S = 0.01
PATIENCE_S = 30.0  # for frames to leave: a test asks what they say, not how busy the machine is


def in_thread(function, *arguments):
    return sync_to_async(function, thread_sensitive=False)(*arguments)


class Author:
    """Holds the lease of one run."""

    def __init__(self, claimed: journal.Claimed, flusher: Flusher) -> None:
        self.claimed, self.flusher = claimed, flusher
        self.lane = flusher.open(claimed.run, claimed.conversation, 2, claimed.epoch)
        self.message, self.text, self.thinking = "", "", ""
        self.events = 2
        self.texts: dict[str, str] = {}

    async def record(self, *events) -> None:
        batch: Batch = events
        closed = any(isinstance(event, MessageFinished) for event in batch)
        await self.flusher.settle(self.lane, final=closed)
        appended = await in_thread(journal.append, self.claimed, batch)
        self.lane.moved(appended.last, closed=closed)
        self.events = appended.last

    async def request(self, turn: int) -> None:
        self.message, self.text, self.thinking = str(uuid4()), "", ""
        await self.record(TurnStarted(turn), ModelRequested(self.message, turn, 1, "model", "digest"))

    def say(self, text: str) -> None:
        self.flusher.add(self.lane, Delta(self.message, DeltaKind.TEXT, len(self.text), text))
        self.text += text

    async def finish(self, turn: int) -> None:
        self.texts[self.message] = self.text
        await self.record(MessageFinished(AssistantMessage(self.message, self.text), Usage()), TurnFinished(turn))

    async def end(self) -> None:
        await self.record(RunFinished(Outcome.STOPPED, Reason.AFTER_ACTING, "Stopped.", Usage()))

    async def answer(self, *, turns: int, words: int, pause_s: float, dice: random.Random) -> None:
        for turn in range(1, turns + 1):
            await self.request(turn)
            for number in range(words):
                self.say(dice.choice(["слово ", "word ", "🙂 ", "\n\n", "**x** "]) + str(number))
                await asyncio.sleep(pause_s)
            await self.finish(turn)
        await self.end()


@asynccontextmanager
async def claimed_run(cast: Cast | None = None):
    """The author of a run that was just claimed; its events so far are 1 and 2."""
    cast = cast or await in_thread(make_cast)
    worker = await in_thread(make_worker)
    run = await in_thread(cast.run)
    claimed = await in_thread(journal.claim, str(run.public_id), worker)
    flusher = Flusher(WINDOW_S, asyncio.get_running_loop().time, PATIENCE_S)
    task = asyncio.create_task(flusher.run())
    try:
        yield Author(claimed, flusher)
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
