"""Sends what the runs of this process show to Redis: all due runs in one pipeline, each run once in a window."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from itertools import count
from typing import Any

from redis.exceptions import NoScriptError, RedisError

from agentweb.engine.events import Delta, ToolProgressed
from agentweb.runs.live import keys, scripts
from agentweb.runs.live.connections import connection
from agentweb.runs.live.scripts import Written
from agentweb.worker.lane import Lane, Shipment

logger = logging.getLogger(__name__)

LONGEST_WINDOW_S = 0.5
SHRINK = 0.8  # from one pass to the next, after a busy time
COST_FACTOR = 10  # the window is at least this many times what a pass takes
TOGETHER_S = 0.005  # lanes that are due within this time go into the same pipeline
SETTLE_S = 0.3
FIRST_BACKOFF_S, LAST_BACKOFF_S = 0.25, 5.0
GOLDEN = 0.618034  # fractions of its multiples spread evenly, however many there are

DELTAS_SHA = scripts.sha(scripts.DELTAS)


class Flusher:
    """Lives on one event loop. Redis being away never blocks or fails a run: its text waits and is sent later."""

    def __init__(self, window_s: float, clock: Callable[[], float]) -> None:
        self._least_window_s = self._window_s = window_s
        self._clock = clock
        self._lanes: set[Lane] = set()
        self._numbers = count()
        self._wake = asyncio.Event()
        self._backoff_s = FIRST_BACKOFF_S
        self._down_until = float("-inf")

    def open(self, run: str, conversation: str, event: int, epoch: int) -> Lane:
        lane = Lane(run, conversation, event, epoch, phase=next(self._numbers) * GOLDEN % 1)
        self._lanes.add(lane)
        return lane

    def close(self, lane: Lane) -> None:
        self._lanes.discard(lane)

    def add(self, lane: Lane, step: Delta | ToolProgressed) -> None:
        """The first step after a silence leaves at once, the others at the lane's place in the window."""
        now = self._clock()
        lane.add(step, now)
        self._schedule(lane, now)

    async def settle(self, lane: Lane, *, final: bool = False) -> None:
        """Return when everything of the lane has left, or when Redis takes too long. ``final``: its message is done."""
        if final:
            lane.finish()
        if not (lane.waits or final) or self._clock() < self._down_until:
            return
        lane.settled.clear()
        lane.due = self._clock()
        self._wake.set()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(lane.settled.wait(), SETTLE_S)

    async def run(self) -> None:
        """Send, until cancelled."""
        while True:
            await self._until_due()
            begun = self._clock()
            await self._pass([lane for lane in self._lanes if lane.due <= begun + TOGETHER_S])
            took = self._clock() - begun
            wanted_s = max(self._least_window_s, COST_FACTOR * took, SHRINK * self._window_s)
            self._window_s = min(wanted_s, LONGEST_WINDOW_S)

    async def _until_due(self) -> None:
        while True:
            self._wake.clear()
            wait_s = min((lane.due for lane in self._lanes), default=float("inf")) - self._clock()
            if wait_s <= 0:
                return
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), None if wait_s == float("inf") else wait_s)

    def _schedule(self, lane: Lane, now: float) -> None:
        if lane.due != float("inf"):
            return
        window = self._window_s
        if now - lane.sent_at >= window:
            lane.due = now
        else:
            offset = lane.phase * window
            lane.due = ((now - offset) // window + 1) * window + offset
            if lane.due - lane.sent_at < window / 2:
                lane.due += window
        lane.due = max(lane.due, self._down_until)
        self._wake.set()

    async def _pass(self, lanes: list[Lane]) -> None:
        now = self._clock()
        shipments = [shipment for lane in lanes if (shipment := self._shipment(lane, now))]
        if not shipments:
            return
        try:
            answers = await self._send(shipments)
        except (RedisError, OSError) as error:
            self._went_down(error)
            answers = [error] * len(shipments)
        else:
            self._backoff_s, self._down_until = FIRST_BACKOFF_S, float("-inf")
        for shipment, answer in zip(shipments, answers, strict=True):
            self._answered(shipment, answer)

    def _shipment(self, lane: Lane, now: float) -> Shipment | None:
        lane.due = float("inf")
        try:
            shipment = lane.ship(now)
        except Exception:  # a fault in rendering must not silence the other runs
            logger.exception("Nothing is shown of run %s for now.", lane.run)
            lane.mute()
            return None
        if shipment is None:
            lane.settled.set()
            if lane.owes_blocks(now):
                lane.due = now + self._window_s
        return shipment

    async def _send(self, shipments: list[Shipment]) -> list[Any]:
        answers = await self._execute(shipments)
        if any(isinstance(answer, NoScriptError) for answer in answers):
            await connection().script_load(scripts.DELTAS)
            answers = await self._execute(shipments)  # a frame that did arrive asks for the whole text at worst
        return answers

    async def _execute(self, shipments: list[Shipment]) -> list[Any]:
        async with connection().pipeline(transaction=False) as pipe:
            for shipment in shipments:
                names = keys.run_keys(shipment.lane.run)
                pipe.evalsha(DELTAS_SHA, len(names), *names, *shipment.arguments)
            return await pipe.execute(raise_on_error=False)

    def _answered(self, shipment: Shipment, answer: Any) -> None:
        lane, now = shipment.lane, self._clock()
        lane.sent_at = now
        if isinstance(answer, Exception):
            if not isinstance(answer, RedisError | OSError):
                raise answer
            lane.lost(whole=True)
        elif answer[0] == Written.ADDED:
            lane.arrived(shipment, answer[1])
        elif answer[0] == Written.REFUSED:
            lane.mute()
        else:
            lane.lost(whole=True)
            lane.due = now
        if lane.waits:
            self._schedule(lane, now)
        elif lane.owes_blocks(now) and lane.due == float("inf"):
            lane.due = now + self._window_s

    def _went_down(self, error: Exception) -> None:
        logger.warning("Redis takes no frames (%s); the text waits.", type(error).__name__)
        self._down_until = self._clock() + self._backoff_s
        self._backoff_s = min(self._backoff_s * 2, LAST_BACKOFF_S)
