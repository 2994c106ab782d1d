"""What the sweep finds: lost runs, forgotten runs, decisions not taken up, waits that have ended."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.utils import timezone

from agentweb.config.celery import app
from agentweb.runs import journal, upkeep
from agentweb.runs.models import Approval, Run, WorkerProcess
from tests.cast import Cast, make_worker
from tests.runs.waiting_call import waiting_approvals

LONG_AGO = timedelta(hours=2)


def asked_for(run: Run, *, seconds_ago: float, times: int = 0) -> None:
    """A worker was asked for so long ago."""
    Run.objects.filter(pk=run.pk).update(enqueued_at=Now() - timedelta(seconds=seconds_ago), enqueued_times=times)


def silent(worker: WorkerProcess) -> None:
    WorkerProcess.objects.filter(pk=worker.pk).update(beat_at=Now() - LONG_AGO)


@pytest.mark.parametrize(
    ("seconds_ago", "times", "again"),
    [(1, 0, 0), (5, 0, 1), (5, 1, 0), (9, 1, 1), (100, 5, 0), (140, 5, 1), (200, 9, 0), (300, 9, 1)],
)
def test_a_queued_run_is_asked_for_again_each_time_later(cast: Cast, seconds_ago, times, again):
    run = cast.run()
    asked_for(run, seconds_ago=seconds_ago, times=times)
    assert upkeep.enqueue_waiting_for_worker() == again
    assert Run.objects.get(pk=run.pk).enqueued_times == times + again


def test_a_run_that_was_never_asked_for_is_asked_for_at_once(cast: Cast):
    run = cast.run()
    Run.objects.filter(pk=run.pk).update(enqueued_at=None)
    assert upkeep.enqueue_waiting_for_worker() == 1


def test_while_workers_have_messages_left_hardly_anything_is_asked_for_again(cast: Cast, valkey):
    valkey.client.lpush(app.conf.task_default_queue, "of some run")
    asked_for(cast.run(), seconds_ago=60)
    assert upkeep.enqueue_waiting_for_worker() == 0
    asked_for(cast.run(), seconds_ago=65)
    assert upkeep.enqueue_waiting_for_worker() == 1
    valkey.client.flushall()
    assert upkeep.enqueue_waiting_for_worker() == 1


def test_of_many_sweeps_in_one_moment_one_asks(cast: Cast):
    asked_for(cast.run(), seconds_ago=60)
    assert [upkeep.enqueue_waiting_for_worker() for _ in range(4)] == [1, 0, 0, 0]


def test_a_run_whose_worker_went_silent_is_asked_for_and_may_be_claimed(cast: Cast, worker):
    run = cast.run()
    journal.claim(str(run.public_id), worker)
    asked_for(run, seconds_ago=60)
    assert upkeep.enqueue_waiting_for_worker() == 0
    silent(worker)
    assert upkeep.enqueue_waiting_for_worker() == 1
    assert journal.claim(str(run.public_id), make_worker("another")).recovered


def test_a_run_whose_worker_was_forgotten_is_asked_for_too(cast: Cast, worker):
    run = cast.run()
    journal.claim(str(run.public_id), worker)
    asked_for(run, seconds_ago=60)
    WorkerProcess.objects.filter(pk=worker.pk).update(beat_at=Now() - timedelta(days=2))
    upkeep.forget_workers()
    assert upkeep.enqueue_waiting_for_worker() == 1


def test_a_decision_that_queued_nothing_is_taken_up(cast: Cast):
    approval = waiting_approvals(cast, cast.builder_run())[0]
    assert upkeep.queue_decided() == 0
    Approval.objects.filter(pk=approval.pk).update(status=Approval.Status.APPROVED, decided_at=timezone.now())
    assert upkeep.queue_decided() == 1
    assert Run.objects.get(pk=approval.run_id).status == Run.Status.QUEUED


@pytest.mark.parametrize("wish", [{"cancel_requested_at": timezone.now()}, {"stop_after": "acting"}])
def test_a_wish_to_end_that_queued_nothing_is_taken_up(cast: Cast, wish):
    approval = waiting_approvals(cast, cast.builder_run())[0]
    Run.objects.filter(pk=approval.run_id).update(**wish)
    assert upkeep.queue_decided() == 1


def test_a_wait_that_is_over_expires_and_its_run_goes_on(cast: Cast):
    over, lasting = waiting_approvals(cast, cast.builder_run(), 2)
    Approval.objects.filter(pk=over.pk).update(expires_at=Now() - timedelta(seconds=1))
    Approval.objects.filter(pk=lasting.pk).update(expires_at=Now() + LONG_AGO)
    assert upkeep.expire_approvals() == 1
    over.refresh_from_db()
    lasting.refresh_from_db()
    assert (over.status, lasting.status) == (Approval.Status.EXPIRED, Approval.Status.PENDING)
    assert Run.objects.get(pk=over.run_id).status == Run.Status.QUEUED


def test_only_a_run_that_is_still_held_is_given_back(cast: Cast, worker):
    mine, gone = cast.run(), cast.run()
    held = [journal.claim(str(run.public_id), worker) for run in (mine, gone)]
    assert sorted(upkeep.held_by(worker)) == sorted((one.run_id, one.epoch) for one in held)
    silent(worker)
    journal.claim(str(gone.public_id), make_worker("another"))
    upkeep.give_back([(one.run_id, one.epoch) for one in held])
    assert Run.objects.get(pk=mine.pk).status == Run.Status.QUEUED
    assert Run.objects.get(pk=gone.pk).owner.name == "another"
