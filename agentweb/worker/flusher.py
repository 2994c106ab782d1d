"""Sends what the runs of this process show to Redis: all due runs in one pipeline, each run once in a window."""

import asyncio
import contextlib
import logging
from collections.abc import Callable
from heapq import heappop, heappush
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
COST_FACTOR = 4  # the window is at least this many times what a pass takes
FRAMES_A_SECOND = 700  # of all watched runs; with more runs than that allows for, the window is longer
UNWATCHED = 4  # times the window and the tick, for what nobody sees
TICK_S = 0.01  # lanes have their places at whole ticks, so that those of one tick share a pipeline; see UNWATCHED
SPEAKING_S = 1.0  # since its last frame, a run counts as one that speaks
SETTLE_S = 0.3
FIRST_BACKOFF_S, LAST_BACKOFF_S = 0.25, 5.0
GOLDEN = 0.618034  # fractions of its multiples spread evenly, however many there are
NEVER = float("inf")

DELTAS_SHA = scripts.sha(scripts.DELTAS)


class Flusher:
    """Lives on one event loop. Redis being away never blocks or fails a run: its text waits and is sent later.

    A lane's place in the window is where it sends, and when whoever feeds it does well to look for more (``rest_s``).
    """

    def __init__(self, window_s: float, clock: Callable[[], float], settle_s: float = SETTLE_S) -> None:
        self._settle_s = settle_s
        self._least_window_s = self._window_s = window_s
        self._clock = clock
        self._lanes: set[Lane] = set()
        self._numbers = count()
        self._queue: list[tuple[float, int, Lane]] = []  # by the time at which a lane is due; old entries stay in
        self._entries = count()
        self._wake = asyncio.Event()
        self._alarm: asyncio.TimerHandle | None = None
        self._alarm_at = NEVER
        self._backoff_s = FIRST_BACKOFF_S
        self._down_until = float("-inf")

    def open(self, run: str, conversation: str, event: int, epoch: int) -> Lane:
        lane = Lane(run, conversation, event, epoch, phase=next(self._numbers) * GOLDEN % 1)
        self._lanes.add(lane)
        return lane

    def close(self, lane: Lane) -> None:
        self._lanes.discard(lane)
        lane.due = NEVER

    def add(self, lane: Lane, step: Delta | ToolProgressed) -> None:
        """The first step after a silence leaves at once, the others at the lane's place in the window."""
        now, waited = self._clock(), lane.waits
        lane.add(step, now)
        if lane.waits and not waited:
            at_once = now >= lane.wanted_at or now - lane.sent_at >= self._window_of(lane) / 2
            self._schedule(lane, now, at_once=at_once)
            lane.wanted_at = NEVER

    def rest_s(self, lane: Lane) -> float:
        """How long more of the lane's message may gather where it comes from; what is added then leaves at once."""
        now = self._clock()
        lane.wanted_at = self._place(lane, now)
        return lane.wanted_at - now

    async def settle(self, lane: Lane, *, final: bool = False) -> None:
        """Return when everything of the lane has left, or when Redis is away or takes longer than ``settle_s``: whoever
        follows then reads the rows. ``final``: the lane's message is done."""
        if final:
            lane.finish()
        if not (lane.waits or final) or self._clock() < self._down_until:
            return
        lane.settled.clear()
        self._due(lane, self._clock())
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._settle_s):
                await lane.settled.wait()

    async def run(self) -> None:
        """Send, until cancelled."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            begun = self._clock()
            await self._pass(self._taken(begun))
            self._stretch(begun)
            self._alarm_at = NEVER
            if (due := self._next()) < NEVER:
                self._set_alarm(due)

    def _taken(self, now: float) -> list[Lane]:
        """The lanes that are due, each once."""
        lanes = []
        while self._next() <= now:
            lane = heappop(self._queue)[2]
            lane.due = NEVER
            lanes.append(lane)
        return lanes

    def _next(self) -> float:
        """When the next lane is due; entries of lanes that are due at another time by now are dropped."""
        while self._queue and self._queue[0][2].due != self._queue[0][0]:
            heappop(self._queue)
        return self._queue[0][0] if self._queue else NEVER

    def _stretch(self, begun: float) -> None:
        """The window grows with what a pass takes and with the number of runs that somebody watches."""
        now = self._clock()
        speaking = sum(lane.listeners > 0 and now - lane.sent_at < SPEAKING_S for lane in self._lanes)
        wanted_s = max(
            self._least_window_s,
            speaking / FRAMES_A_SECOND,
            COST_FACTOR * (now - begun),
            SHRINK * self._window_s,
        )
        self._window_s = min(wanted_s, LONGEST_WINDOW_S)

    def _due(self, lane: Lane, due: float) -> None:
        lane.due = due
        heappush(self._queue, (due, next(self._entries), lane))
        if due < self._alarm_at:
            self._set_alarm(due)

    def _set_alarm(self, at: float) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self._alarm_at = at
        wait_s = at - self._clock()
        if wait_s <= 0:
            self._wake.set()
        else:
            self._alarm = asyncio.get_running_loop().call_later(wait_s, self._wake.set)

    def _schedule(self, lane: Lane, now: float, *, at_once: bool = False) -> None:
        due = max(now if at_once else self._place(lane, now), self._down_until)
        if due < lane.due:
            self._due(lane, due)

    def _window_of(self, lane: Lane) -> float:
        return self._window_s if lane.listeners else min(UNWATCHED * self._window_s, LONGEST_WINDOW_S)

    def _place(self, lane: Lane, now: float) -> float:
        """The lane's next place that is at least half a window away."""
        window = self._window_of(lane)
        offset = lane.phase * window
        place = ((now + window / 2 - offset) // window + 1) * window + offset
        tick_s = TICK_S if lane.listeners else UNWATCHED * TICK_S
        return place // tick_s * tick_s

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
        try:
            shipment = lane.ship(now)
        except Exception:  # a fault in rendering must not silence the other runs
            logger.exception("Nothing is shown of run %s for now.", lane.run)
            lane.mute()
            return None
        if shipment is None:
            lane.settled.set()
            self._look_again(lane, now)
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
            lane.settled.set()  # nobody waits for a server that is away
        elif answer[0] == Written.ADDED:
            lane.arrived(shipment, answer[1])
        elif answer[0] == Written.REFUSED:
            if shipment.event == lane.event:  # else the lane's own next event has overtaken the frame
                lane.mute()
        else:
            lane.lost(whole=True)
            self._due(lane, now)
        if lane.waits:
            self._schedule(lane, now)
        else:
            self._look_again(lane, now)

    def _look_again(self, lane: Lane, now: float) -> None:
        """Without another word too, a block may have to be rendered again."""
        if lane.due == NEVER and lane.owes_blocks(now):
            self._due(lane, now + 2 * self._window_s)

    def _went_down(self, error: Exception) -> None:
        logger.warning("Redis takes no frames (%s); the text waits.", type(error).__name__)
        self._down_until = self._clock() + self._backoff_s
        self._backoff_s = min(self._backoff_s * 2, LAST_BACKOFF_S)
