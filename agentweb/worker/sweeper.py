"""Every worker looks now and then for what nobody else will: lost and forgotten runs, waits that have ended."""

import asyncio
import logging
import random
from collections.abc import Callable

from django import db
from django.conf import settings

from agentweb.runs import asking, backtests, notices, upkeep
from agentweb.runs.models import WorkerProcess
from agentweb.worker.database import DatabaseThreads

logger = logging.getLogger(__name__)

Held = frozenset[tuple[int, int]]
CLEAN_EACH = 100  # sweeps


async def sweep_forever(worker: WorkerProcess, database: DatabaseThreads, held: Callable[[], Held]) -> None:
    """Sweep each SWEEP_SECONDS, until cancelled. ``held``: row ids and epochs of the runs that are worked on here."""
    suspects: Held = frozenset()
    for number in range(2**62):
        await asyncio.sleep(settings.SWEEP_SECONDS * random.uniform(0.8, 1.2))
        try:
            suspects = await sweep(worker, database, held, suspects)
            if number % CLEAN_EACH == 0:
                await database.run(upkeep.forget_workers)
        except db.Error:
            logger.exception("The sweep failed; the next one comes soon.")


async def sweep(worker: WorkerProcess, database: DatabaseThreads, held: Callable[[], Held], suspects: Held) -> Held:
    """One sweep. Runs that this worker holds by the rows, but that nothing here works on, are suspects; those that
    already were at the last sweep are given back."""
    duties = (
        upkeep.expire_approvals,
        asking.escalate,
        asking.look_for_stranded,
        upkeep.queue_decided,
        upkeep.enqueue_waiting_for_worker,
        backtests.ask_again,
        notices.ask_for_sending,
    )
    for duty in duties:
        await database.run(duty)
    recorded = frozenset(await database.run(lambda: upkeep.held_by(worker)))
    forgotten = recorded - held()
    if left := forgotten & suspects:
        logger.warning("%d run(s) had been let go of without a word; they are queued again.", len(left))
        await database.run(lambda: upkeep.give_back(left))
    return forgotten - left
