"""The Celery application. A message only says that a run may need a worker: the rows decide."""

import os
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from celery import Celery
from celery.signals import setup_logging
from kombu.exceptions import OperationalError

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentweb.config.settings")

from django.conf import settings

QUEUE = "runs"
NOTHING_FOLLOWS = {"callbacks": None, "errbacks": None, "chain": None, "chord": None}


class Hints(Celery):
    """Celery, which can also be told of work by a message that says no more than a worker needs."""

    def hint(self, task: str, about: int | str, wait_s: float = 0) -> None:
        """Ask for ``task(about)``, after ``wait_s`` at the earliest: a message of Celery's second protocol, as
        ``send_task`` makes it, in a quarter of the time. Raises kombu's OperationalError when the broker is away."""
        name = str(uuid4())
        due = datetime.now(UTC) + timedelta(seconds=wait_s) if wait_s else None
        headers = {
            "lang": "py",
            "task": task,
            "id": name,
            "root_id": name,
            "eta": due and due.isoformat(),
            "retries": 0,
            "timelimit": [None, None],
            "ignore_result": True,
        }
        with self.producer_pool.acquire(block=True) as producer:
            away = (*producer.connection.connection_errors, *producer.connection.channel_errors)
            try:
                producer.publish(
                    ([about], {}, NOTHING_FOLLOWS),
                    routing_key=QUEUE,
                    headers=headers,
                    correlation_id=name,
                    serializer="json",
                    retry=False,
                )
            except away as error:
                raise OperationalError(str(error)) from error


app = Hints("agentweb")


@setup_logging.connect
def keep_logs(**_: Any) -> None:
    """Django has set up the log already; that somebody answers here keeps Celery from doing it again."""


def broker_url(redis_url: str) -> str:
    """Celery names a unix socket differently than redis-py does."""
    return redis_url.replace("unix://", "redis+socket://", 1)


app.conf.update(
    broker_url=broker_url(settings.REDIS_URL or "redis://127.0.0.1:6379/0"),
    task_ignore_result=True,
    task_acks_late=False,
    task_default_queue=QUEUE,
    task_serializer="json",
    accept_content=["json"],
    worker_prefetch_multiplier=1,
    worker_disable_prefetch=True,
    worker_hijack_root_logger=False,
    worker_redirect_stdouts=False,
    worker_send_task_events=False,
    worker_cancel_long_running_tasks_on_connection_loss=False,
    broker_connection_retry_on_startup=True,
    broker_connection_max_retries=None,
    broker_transport_options={
        "ack_emulation": False,  # a message is only a hint: the sweep finds what a lost one spoke of
        "socket_timeout": 5,
        "socket_connect_timeout": 2,
        "max_retries": 0,
    },
    result_backend_thread_safe=True,  # there is none, but else each new thread would look for it anew (20 ms)
    task_publish_retry=False,
)
app.autodiscover_tasks(["agentweb.worker"])
