"""The Celery application. A message only says that a run may need a worker: the rows decide."""

import os
from typing import Any

from celery import Celery
from celery.signals import setup_logging

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentweb.config.settings")

from django.conf import settings

app = Celery("agentweb")


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
    task_default_queue="runs",
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
