"""What Celery runs here, and what it is told when the process begins and ends."""

from typing import Any

from celery import shared_task
from celery.signals import task_postrun, task_prerun, worker_ready, worker_shutdown, worker_shutting_down
from django.db import connection
from kombu.asynchronous import get_event_loop
from structlog.contextvars import bind_contextvars, unbind_contextvars

from agentweb.runs import backtests, notices
from agentweb.worker import process

SOON_S = 0.005


@shared_task(name="runs.advance", ignore_result=True)
def advance(run: str) -> None:
    """A slot for one run: returns when the run pauses, ends, or is given back. The rows say whether there is work."""
    process.current().advance(run)


@shared_task(name=backtests.TASK, ignore_result=True)
def backtest(row: int) -> None:
    """Try a policy on recorded calls."""
    try:
        backtests.run(row)
    finally:
        connection.close()


@shared_task(name=notices.TASK, ignore_result=True)
def send_notices(_about: str) -> None:
    """Tell people and programs of what has waited for long."""
    try:
        notices.send()
    finally:
        connection.close()


@task_prerun.connect
def name_in_log(task_id: str = "", args: Any = (), **_: Any) -> None:
    """Each line that is written for this job says which one it is, also those of the loop's thread."""
    bind_contextvars(task=task_id, run=str(next(iter(args or ()), "")))


@task_postrun.connect
def leave_log(**_: Any) -> None:
    unbind_contextvars("task", "run")


@task_postrun.connect
def look_for_more(**_: Any) -> None:
    """Celery fetches nothing while all slots are taken, and would find out within a second only that one is free.

    It is free a moment after this signal."""
    if hub := get_event_loop():
        hub.call_soon(hub.call_later, SOON_S, _nothing)


def _nothing() -> None:
    """That something is due is what makes the loop go round."""


@worker_ready.connect
def begin(**_: Any) -> None:
    process.current()


@worker_shutting_down.connect
def drain(**_: Any) -> None:
    if running := process.started():
        running.drain()


@worker_shutdown.connect
def end(**_: Any) -> None:
    if running := process.started():
        running.stop()
