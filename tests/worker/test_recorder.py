"""Recording a batch: also when people change their minds, and when the database goes away."""

import pytest
from django.db import OperationalError

from agentweb.engine.enums import Outcome, Reason
from agentweb.engine.events import MessageFinished, ModelRequested, Queued, RunFinished, SteeringTaken, TurnStarted
from agentweb.engine.messages import AssistantMessage
from agentweb.engine.usage import Usage
from agentweb.runs import journal
from agentweb.runs.journal import LeaseLost
from agentweb.runs.models import QueuedMessage, Run
from agentweb.worker.database import DatabaseThreads
from agentweb.worker.recorder import Recorder
from tests.author import Author, claimed_run, in_thread
from tests.cast import make_worker

pytestmark = pytest.mark.django_db(transaction=True)
MESSAGE = "22222222-2222-4222-8222-222222222222"


class Unreliable(DatabaseThreads):
    """Fails as a database does that restarts: before the work, or after its commit."""

    def __init__(self, *, before: int = 0, after: int = 0) -> None:
        super().__init__()
        self.before, self.after = before, after

    async def run(self, work):
        if self.before:
            self.before -= 1
            raise OperationalError("the connection was lost")
        result = await super().run(work)
        if self.after:
            self.after -= 1
            raise OperationalError("the connection was lost after the commit")
        return result


def recorder_of(author: Author, database: DatabaseThreads, patience_s: float = 10) -> Recorder:
    return Recorder(author.claimed, author.lane, database, author.flusher, patience_s)


def kinds(author: Author) -> list[str]:
    return list(Run.objects.get(pk=author.claimed.run_id).events.order_by("number").values_list("kind", flat=True))


@pytest.mark.parametrize("failing", [{"before": 2}, {"after": 1}, {"before": 1, "after": 1}])
async def test_a_batch_is_recorded_once_though_the_database_went_away(valkey, failing):
    async with claimed_run() as author:
        database = Unreliable(**failing)
        end = RunFinished(Outcome.STOPPED, Reason.AFTER_ACTING, "Stopped.", Usage())
        appended = await recorder_of(author, database).record((TurnStarted(1), end))
        database.close()
        assert (appended.last, appended.finished) == (4, True)
        assert (await in_thread(kinds, author))[2:] == ["TurnStarted", "RunFinished"]


async def test_a_database_that_stays_away_ends_the_attempt(valkey):
    async with claimed_run() as author:
        database = Unreliable(before=10**6)
        with pytest.raises(OperationalError):
            await recorder_of(author, database, patience_s=0.3).record((TurnStarted(1),))
        database.close()


async def test_who_lost_the_lease_is_told_also_after_a_failure(valkey):
    async with claimed_run() as author:
        await in_thread(steal, author)
        database = Unreliable(before=1)
        with pytest.raises(LeaseLost):
            await recorder_of(author, database).record((TurnStarted(1),))
        database.close()


def steal(author: Author) -> None:
    Run.objects.filter(pk=author.claimed.run_id).update(owner=None)
    assert journal.claim(author.claimed.run, make_worker("thief")) is not None


async def test_a_message_that_was_taken_back_meanwhile_costs_only_itself(valkey):
    async with claimed_run() as author:
        await in_thread(journal.append, author.claimed, (TurnStarted(1), ModelRequested(MESSAGE, 1, 1, "m", "d")))
        author.lane.moved(4, closed=False)
        queued = await in_thread(wait_in_queue, author)
        taken = SteeringTaken(2, (Queued(str(queued.public_id), queued.text),))
        await in_thread(take_back, queued)
        said = MessageFinished(AssistantMessage(MESSAGE, "Hello"), Usage())
        database = DatabaseThreads()
        batch = (said, TurnStarted(2), taken, ModelRequested(MESSAGE, 2, 1, "m", "d"))
        appended = await recorder_of(author, database).record(batch)
        database.close()
        assert (appended.refused, appended.last) == (True, 5)
        assert (await in_thread(kinds, author))[4:] == ["MessageFinished"]


def wait_in_queue(author: Author) -> QueuedMessage:
    run = Run.objects.get(pk=author.claimed.run_id)
    return QueuedMessage.objects.create(run=run, author=run.requested_by, delivery="steering", text="Wait")


def take_back(queued: QueuedMessage) -> None:
    QueuedMessage.objects.filter(pk=queued.pk).update(status=QueuedMessage.Status.REMOVED)
