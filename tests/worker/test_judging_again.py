"""A rule that is saved between the judgement of a call and its start counts for that call."""

import asyncio
import json
from collections.abc import Callable
from typing import TypeVar

import pytest
from django.conf import settings

from agentweb.engine.ports import Allow
from agentweb.registry.models import Policy, PolicyRule
from agentweb.registry.services import enact
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


class RuleAfterJudging(DatabaseThreads):
    """Once the first call is allowed, and before anything else is done, an admin refuses all such calls."""

    saved = False

    async def run(self, work: Callable[[], T]) -> T:
        found = await super().run(work)
        if not self.saved and isinstance(found, tuple) and found and isinstance(found[0], Allow):
            self.saved = True
            await super().run(_refuse)
        return found


def _refuse() -> None:
    policy = Policy.objects.create(name="house")
    PolicyRule.objects.create(policy=policy, tool="*", verdict="deny", reason="not now")
    enact(policy=policy)


async def test_the_call_is_judged_again_and_refused(valkey):
    run = await in_thread((await in_thread(make_cast)).run, "What is the date today?")
    database, flusher = RuleAfterJudging(), Flusher(settings.FLUSH_SECONDS, asyncio.get_running_loop().time)
    showing = asyncio.create_task(flusher.run())
    worker = await in_thread(make_worker)
    shop = Shop(worker, database, flusher, ControlDesk(database), draining=lambda: False, patience_s=5)
    await drive(str(run.public_id), shop)
    database.close()
    assert await in_thread(_story, run) == ("answered", False, ["denied"])
    showing.cancel()
    await close_connections()


def _story(run: Run) -> tuple[str, bool, list[str]]:
    """How it ended, whether a call started, and what became of its calls."""
    events = Run.objects.get(pk=run.pk).events
    results = [json.loads(each.payload)["result"]["kind"] for each in events.filter(kind="ToolFinished")]
    return Run.objects.get(pk=run.pk).outcome, events.filter(kind="ToolStarted").exists(), results
