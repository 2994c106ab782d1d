"""Messages to workers: what Celery would send itself, as far as a worker reads it."""

import json
import socket
from contextlib import closing
from typing import Any

import pytest
from kombu.exceptions import OperationalError

from agentweb.config.celery import QUEUE, Hints, broker_url
from tests.valkey import shared_valkey, valkey

__all__ = ["shared_valkey", "valkey"]


def app_of(address: str) -> Hints:
    made = Hints("hints", broker=broker_url(address), set_as_current=False)
    options = {"ack_emulation": False, "socket_connect_timeout": 2, "max_retries": 0}
    made.conf.update(task_default_queue=QUEUE, task_ignore_result=True, broker_transport_options=options)
    return made


def of_this_message(headers: dict[str, Any]) -> dict[str, bool]:
    """What differs from one message to the next: whether it is there."""
    return {name: bool(headers[name]) for name in ("id", "root_id", "eta")}


@pytest.mark.parametrize("wait_s", [0, 30])
def test_a_hint_is_the_message_that_celery_would_send(valkey, wait_s):
    app, client = app_of(valkey.url), valkey.client
    app.hint("runs.advance", "run-1", wait_s)
    app.send_task("runs.advance", args=["run-1"], ignore_result=True, countdown=wait_s or None)
    usual, hint = (json.loads(each) for each in client.lrange(QUEUE, 0, -1))
    assert hint["content-type"] == usual["content-type"]
    assert set(hint["headers"]) <= set(usual["headers"])
    assert of_this_message(hint["headers"]) == of_this_message(usual["headers"])
    same = set(hint["headers"]) - set(of_this_message(hint["headers"]))
    assert {name: hint["headers"][name] for name in same} == {name: usual["headers"][name] for name in same}
    assert hint["properties"]["correlation_id"] == hint["headers"]["id"]
    assert hint["body"] == usual["body"]


def test_a_broker_that_is_away_is_said_in_one_way():
    with closing(socket.socket()) as held:
        held.bind(("127.0.0.1", 0))  # nobody listens here, and nobody else can begin to
        app = app_of(f"redis://127.0.0.1:{held.getsockname()[1]}/0")
        for _ in range(2):
            with pytest.raises(OperationalError):
                app.hint("take", "run-1")
