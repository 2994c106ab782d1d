"""The database fails once, at any one of the moments at which a run needs it: the run is answered all the same."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

import pytest
from django.conf import settings
from django.db import OperationalError

from agentweb.engine.enums import Outcome
from agentweb.runs import upkeep
from agentweb.runs.live.connections import close_connections
from agentweb.runs.models import Run
from agentweb.worker.controls import ControlDesk
from agentweb.worker.database import DatabaseThreads
from agentweb.worker.driver import Shop, drive
from agentweb.worker.flusher import Flusher
from tests.author import in_thread
from tests.cast import make_cast, make_worker

pytestmark = pytest.mark.django_db(transaction=True)
T = TypeVar("T")


class FailsOnce(DatabaseThreads):
    """The call at place ``fails`` breaks off: before the work is done or, ``after``, behind its commit."""

    def __init__(self, fails: int, after: bool) -> None:
        super().__init__()
        self.fails, self.after, self.calls = fails, after, 0

    async def run(self, work: Callable[[], T]) -> T:
        self.calls += 1
        if self.calls - 1 != self.fails:
            return await super().run(work)
        if self.after:
            await super().run(work)
        raise OperationalError("the connection was lost")


@pytest.mark.parametrize("after", [False, True], ids=["before the work", "behind the commit"])
async def test_a_run_is_answered_whenever_the_database_fails(valkey, after: bool):
    people, worker, flusher = await in_thread(make_cast), await in_thread(make_worker), _flusher()
    showing = asyncio.create_task(flusher.run())

    async def told(place: int) -> tuple[int, tuple[str, int, int, int]]:
        """How often the database was called when the call at this place failed, and what the run came to."""
        database = FailsOnce(place, after)
        run = await in_thread(people.run, "What is the date today?")
        desk = ControlDesk(database)
        await _driven(run, Shop(worker, database, flusher, desk, draining=lambda: False, patience_s=5))
        database.close()
        return database.calls, await in_thread(_story, run)

    needed, well = await told(-1)
    assert well == (Outcome.ANSWERED, 1, 1, 1) and needed > 10
    found = dict(enumerate(await asyncio.gather(*map(told, range(needed)))))
    assert {place: story for place, (_calls, story) in found.items() if story != well} == {}
    showing.cancel()
    await close_connections()


def _flusher() -> Flusher:
    return Flusher(settings.FLUSH_SECONDS, asyncio.get_running_loop().time)


async def _driven(run: Run, shop: Shop) -> None:
    """As a job does it, and behind it the sweep of a worker that finds a run which nobody works on."""
    try:
        await drive(str(run.public_id), shop)
    except OperationalError:
        await in_thread(_give_back, run)
        await drive(str(run.public_id), shop)


def _give_back(run: Run) -> None:
    upkeep.give_back([(run.pk, Run.objects.values_list("epoch", flat=True).get(pk=run.pk))])


def _story(run: Run) -> tuple[str, int, int, int]:
    row = Run.objects.get(pk=run.pk)
    kinds = list(row.events.values_list("kind", flat=True))
    assert row.last_event == len(kinds)
    return row.outcome, kinds.count("ToolStarted"), kinds.count("ToolFinished"), kinds.count("RunFinished")
