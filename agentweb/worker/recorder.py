"""Recording batches for one claimed run, also over a database that goes away for a moment."""

import asyncio
import logging

from django.db import InterfaceError, OperationalError

from agentweb.engine.enums import Outcome
from agentweb.engine.events import (
    Batch,
    FollowUpTaken,
    MessageFinished,
    MessageInterrupted,
    RunFinished,
    RunPaused,
    SteeringTaken,
    TurnStarted,
)
from agentweb.registry.policies import Basis
from agentweb.runs import journal
from agentweb.runs.journal import Appended, Claimed, LeaseLost
from agentweb.runs.models import Run
from agentweb.runs.projection import Stale
from agentweb.worker.database import DatabaseThreads
from agentweb.worker.flusher import Flusher
from agentweb.worker.lane import Lane

logger = logging.getLogger(__name__)

FIRST_BACKOFF_S = 0.2


class Recorder:
    """Shows and journals what one run does, in that order for the deltas of a message and its end."""

    def __init__(
        self, claimed: Claimed, lane: Lane, database: DatabaseThreads, flusher: Flusher, patience_s: float
    ) -> None:
        self._claimed = claimed
        self._lane = lane
        self._database = database
        self._flusher = flusher
        self._patience_s = patience_s

    async def record(self, batch: Batch, basis: Basis | None = None) -> Appended:
        """Record one boundary; ``refused`` tells that the run must be loaded again. ``basis``: on what the judgement of
        its starts rests. Raises LeaseLost."""
        closed = any(isinstance(event, MessageFinished | MessageInterrupted) for event in batch)
        await self._flusher.settle(self._lane, final=closed)
        try:
            appended = await self._append(batch, basis)
        except Stale:
            appended = await self._append_without_taking(batch, basis)
        self._lane.moved(appended.last, closed=closed)
        if appended.finished and isinstance(batch[-1], RunFinished):
            _log_end(batch[-1])
        return appended

    async def _append_without_taking(self, batch: Batch, basis: Basis | None) -> Appended:
        """A message was edited or taken back after the loop looked: record what came before, and look again."""
        end = next(place for place, event in enumerate(batch) if isinstance(event, SteeringTaken | FollowUpTaken))
        if end and isinstance(batch[end - 1], TurnStarted):
            end -= 1
        last = self._lane.event
        if end:
            last = (await self._append(batch[:end], basis)).last
        return Appended(first=last, last=last, refused=True)

    async def _append(self, batch: Batch, basis: Basis | None) -> Appended:
        """While the database cannot be reached the batch waits, for about as long as the lease holds: a result that
        is not recorded would have to be found out by a person."""
        waited_s, backoff_s = 0.0, FIRST_BACKOFF_S
        while True:
            try:
                return await self._database.run(lambda: journal.append(self._claimed, batch, basis))
            except (OperationalError, InterfaceError):
                if waited_s >= self._patience_s:
                    raise
                logger.warning("The database did not take a batch of the run; trying again.")
            await asyncio.sleep(backoff_s)
            waited_s, backoff_s = waited_s + backoff_s, backoff_s * 2
            if appended := await self._found(batch):
                return appended

    async def _found(self, batch: Batch) -> Appended | None:
        """What became of a batch whose commit was not confirmed: only this process writes events of the run."""
        before, claimed = self._lane.event, self._claimed
        try:
            row = await self._database.run(
                lambda: Run.objects.filter(pk=claimed.run_id).values_list("epoch", "last_event").first()
            )
        except (OperationalError, InterfaceError):
            return None
        if row is None or row[0] != claimed.epoch:
            raise LeaseLost(claimed.run)
        written = row[1] - before
        if written == 0:
            return None
        whole = written == len(batch)
        return Appended(
            first=before + 1,
            last=row[1],
            finished=whole and isinstance(batch[-1], RunFinished),
            paused=whole and isinstance(batch[-1], RunPaused),
            refused=not whole,
        )


def _log_end(end: RunFinished) -> None:
    """One line a run. What went wrong with a failed one is for its people too, and nobody may be there to read it."""
    failed = end.outcome is Outcome.FAILED
    why = f": {end.error.message if end.error else end.text}" if failed else ""
    logger.log(logging.WARNING if failed else logging.INFO, "The run ends: %s, %s%s", end.outcome, end.reason, why)
