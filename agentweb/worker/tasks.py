"""What Celery runs here, and what it is told when the process begins and ends."""

from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutdown, worker_shutting_down

from agentweb.worker import process


@shared_task(name="runs.advance", ignore_result=True)
def advance(run: str) -> None:
    """A slot for one run: returns when the run pauses, ends, or is given back. The rows say whether there is work."""
    process.current().advance(run)


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
