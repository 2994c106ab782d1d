"""Moves one run forward: claim, load, let the loop work, record and show each step, until it pauses or ends."""

import asyncio
import logging
from collections.abc import Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import TypeVar

from django.db import InterfaceError, OperationalError
from structlog.contextvars import bound_contextvars

from agentweb.engine import loop
from agentweb.engine.closing import failure
from agentweb.engine.enums import ErrorKind, Reason
from agentweb.engine.events import Batch, MessageInterrupted, ModelFault
from agentweb.runs import journal, live
from agentweb.runs.journal import Appended, Claimed, LeaseLost
from agentweb.runs.models import WorkerProcess
from agentweb.worker.controls import ControlDesk, RunControls
from agentweb.worker.database import DatabaseThreads
from agentweb.worker.flusher import Flusher
from agentweb.worker.lane import Lane
from agentweb.worker.preparing import Loaded, Ready, load, prepare
from agentweb.worker.recorder import FIRST_BACKOFF_S, Recorder

logger = logging.getLogger(__name__)
Found = TypeVar("Found", bound=Loaded)

MOST_AGAIN = 50  # times in a row that the same state is looked at again, since people changed something each time
BROKEN_OFF = "The model's answer broke off because its worker stopped."
GIVEN_UP = "The worker was lost each time this run was tried."
FAULT = "The run failed because of an error in the system. The error is in the server's log."


@dataclass(frozen=True, slots=True)
class Shop:
    """What all runs of one worker process share. ``draining``: no run may begin another step here."""

    worker: WorkerProcess
    database: DatabaseThreads
    flusher: Flusher
    desk: ControlDesk
    draining: Callable[[], bool]
    patience_s: float


async def drive(run: str, shop: Shop) -> None:
    """Advance the run as far as it goes; return at once when it is not to be had. Never raises but for bugs here."""
    if shop.draining():
        return
    claimed = await shop.database.run(lambda: journal.claim(run, shop.worker))
    if claimed is None:
        return
    lane = shop.flusher.open(claimed.run, claimed.conversation, 0, claimed.epoch)
    about = bound_contextvars(run=claimed.run, conversation=claimed.conversation, user=claimed.user)
    try:
        with about, shop.desk.watching(claimed.run_id, claimed.run, claimed.epoch) as controls:
            await Drive(claimed, shop, lane, controls).to_the_end()
    finally:
        shop.flusher.close(lane)


class Drive:
    """One claim of one run."""

    def __init__(self, claimed: Claimed, shop: Shop, lane: Lane, controls: RunControls) -> None:
        self._claimed = claimed
        self._shop = shop
        self._lane = lane
        self._controls = controls
        self._recorder = Recorder(claimed, lane, shop.database, shop.flusher, shop.patience_s)

    async def to_the_end(self) -> None:
        try:
            await self._advance_over_outages()
        except LeaseLost:
            logger.info("The run went to another worker.")
        except asyncio.CancelledError:
            await self._let_go()
        except Exception:
            logger.exception("The run failed.")
            await self._fail()

    async def _advance_over_outages(self) -> None:
        """While the database cannot be reached, again after a moment, for about as long as a lease holds: what
        matters is in the rows. Then the run is left as it is, and the sweep finds that nobody works on it."""
        waited_s, backoff_s = 0.0, FIRST_BACKOFF_S
        while True:
            try:
                return await self._advance()
            except (OperationalError, InterfaceError) as error:
                if waited_s >= self._shop.patience_s:
                    logger.exception("The database did not come back; the run is left to whoever finds it.")
                    return
                logger.warning("The database could not be reached, so the run is loaded again: %s", error)
            await asyncio.sleep(backoff_s)
            waited_s, backoff_s = waited_s + backoff_s, backoff_s * 2

    async def _advance(self) -> None:
        again, last = 0, -1
        while True:
            if self._claimed.exhausted:
                loaded = await self._load(self._read)
                fault = ModelFault(ErrorKind.INTERNAL, GIVEN_UP)
                await self._recorder.record(failure(loaded.transcript, loaded.usage, fault, Reason.ATTEMPTS))
                return
            ready = await self._load(self._prepare)
            again, last = (again + 1 if ready.last == last else 0), ready.last
            if again > MOST_AGAIN:
                raise RuntimeError("What was to be recorded was refused each time, with nothing new to look at.")
            appended = await self._work(ready)
            if appended is not None and appended.halt and await self._hold(appended.halt):
                return
            if appended is None or not appended.refused:
                return

    def _read(self) -> Loaded:
        return load(self._claimed)

    def _prepare(self) -> Ready:
        return prepare(self._claimed, self._controls, self._shop.database.run, self._rest_s)

    async def _load(self, read: Callable[[], Found]) -> Found:
        """The run as it is recorded; a message that a lost worker was writing is closed first, its text kept."""
        while True:
            loaded = await self._shop.database.run(read)
            self._lane.moved(loaded.last, closed=False)
            self._controls.update(cancelled=loaded.cancelled, stop_after=loaded.stop_after)
            if not loaded.transcript.streaming:
                return loaded
            await self._recorder.record(await self._interruption(loaded.transcript.streaming))

    async def _interruption(self, message: str) -> Batch:
        opened = await live.snapshot(self._claimed.run)
        text, thinking = (opened.text, opened.thinking) if opened and opened.message == message else ("", "")
        fault = ModelFault(ErrorKind.STREAM_INTERRUPTED, BROKEN_OFF, retryable=True)
        return (MessageInterrupted(message, text, thinking, fault),)

    async def _work(self, ready: Ready) -> Appended | None:
        """Let the loop go on. The last thing recorded, or None when the run was given back at a boundary."""
        appended: Appended | None = None
        async with aclosing(loop.run(ready.transcript, ready.usage, ready.setup)) as steps:
            async for step in steps:
                if not isinstance(step, tuple):
                    self._shop.flusher.add(self._lane, step)
                    continue
                if not step:
                    continue
                appended = await self._recorder.record(step, ready.policy.basis)
                if appended.refused or appended.finished or appended.paused:
                    return appended
                if self._shop.draining() and ready.transcript.at_rest:
                    break
            else:
                return appended
        await self._give_back()
        return None

    def _rest_s(self) -> float:
        return self._shop.flusher.rest_s(self._lane)

    async def _let_go(self) -> None:
        """The process ends, or the lease was lost: show what there is and give back what is still held."""
        await self._shop.flusher.settle(self._lane)
        if self._controls.halted is not None:
            with suppress(LeaseLost):
                if await self._hold(self._controls.halted):
                    return
        await self._give_back()

    async def _hold(self, halt: int) -> bool:
        """An emergency stop: a message that was being written is closed with its text, and the run is held. False where
        the stop is over by now. Raises LeaseLost."""
        await self._load(self._read)
        return await self._shop.database.run(lambda: journal.hold(self._claimed, halt))

    async def _give_back(self) -> None:
        await self._shop.database.run(lambda: journal.release(self._claimed))

    async def _fail(self) -> None:
        """End the run with a sentence. Should that fail too, the sweep finds that nobody works on the run."""
        try:
            loaded = await self._load(self._read)
            fault = ModelFault(ErrorKind.INTERNAL, FAULT)
            await self._recorder.record(failure(loaded.transcript, loaded.usage, fault))
        except LeaseLost:
            pass
        except Exception:
            logger.exception("The failure of the run could not be recorded.")
