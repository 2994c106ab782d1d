"""The heartbeat goes on over whatever the database does to it."""

import asyncio

import pytest
from django import db
from django.db import connection

from agentweb.runs.models import WorkerProcess
from agentweb.worker.heartbeat import Heartbeat
from tests.cast import make_worker

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.mark.parametrize("error", [db.OperationalError, db.InterfaceError, db.InternalError])
def test_a_beat_that_the_database_does_not_take_is_missed_and_the_next_one_counts(error, caplog):
    worker, loop = make_worker(), asyncio.new_event_loop()
    heartbeat = Heartbeat(worker, loop)

    def away(*_arguments):
        raise error("away")

    with connection.execute_wrapper(away):
        heartbeat.beat()
    assert "did not take a heartbeat" in caplog.text
    heartbeat.beat()
    assert WorkerProcess.objects.get(pk=worker.pk).beat_at > worker.beat_at
    loop.close()


def test_a_row_that_is_gone_is_written_again():
    worker, loop = make_worker(), asyncio.new_event_loop()
    WorkerProcess.objects.all().delete()
    Heartbeat(worker, loop).beat()
    assert WorkerProcess.objects.get().public_id == worker.public_id
    loop.close()
