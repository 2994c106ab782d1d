"""A key and a secret header go through all that can fail with a model server, and are found nowhere else: in no log at
its most talkative, no row, no event, no page, no answer of the API, no job, nothing in Redis."""

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from agentweb.config.logs import CALM
from agentweb.registry import headers, services
from agentweb.registry.models import Agent, ChatModel
from agentweb.runs.models import Run
from agentweb.teams.models import User
from tests.audit.test_requests import advance
from tests.cast import Cast
from tests.config.log_lines import written
from tests.model_server import ModelServer, serving

KEY, HEADER = "Zx81KeyCanary90210quux", "Zx81HeaderCanary90210quux"
WORDS = f"Incorrect API key provided: {KEY}; Authorization: Bearer {KEY}; x-gateway-token: {HEADER}"
ERROR = json.dumps({"error": {"message": WORDS, "code": f"invalid-{KEY}", "type": HEADER}})
AT_ONCE = {"retry-after": "0"}

FAULTS = {
    "the key is refused and told back": ModelServer(status=401, answer=ERROR),
    "the request is refused": ModelServer(status=400, answer=ERROR),
    "a crash as a web page": ModelServer(status=500, answer=f"<html><pre>{WORDS}</pre></html>", headers=AT_ONCE),
    "too many requests": ModelServer(status=429, answer=ERROR, headers=AT_ONCE),
    "another address": ModelServer(status=302, answer=WORDS, headers={"location": f"http://127.0.0.1:1/?key={KEY}"}),
    "a portal": ModelServer(answer=f"<html>{WORDS}</html>"),
    "an error in the stream": ModelServer(answer=f"data: {ERROR}\n\n", headers={"content-type": "text/event-stream"}),
    "no TLS": ModelServer(),
}


@dataclass
class Jobs:
    """Takes jobs in place of the broker."""

    sent: list[str] = field(default_factory=list)

    def send_task(self, name: str, **about: Any) -> None:
        self.sent.append(f"{name}: {about}")


JOBS = Jobs()


@pytest.fixture
def jobs(settings) -> Jobs:
    settings.CELERY_APP = f"{__name__}.JOBS"
    JOBS.sent.clear()
    return JOBS


@pytest.fixture
def model(worked) -> ChatModel:
    found = ChatModel(name="canary", base_url="http://127.0.0.1:9/v1", model_name="small")
    services.give_key(model=found, key=KEY)
    headers.give(found, {"X-Gateway-Token": HEADER})
    found.save()
    Agent.objects.update(model=found)
    return found


def rows() -> Iterator[str]:
    """Every row of the database."""
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")
            yield f"{table}: {cursor.fetchall()}"


def stored_in(client: Any) -> Iterator[str]:
    """Everything in Redis."""
    for key in client.scan_iter():
        kind = client.type(key)
        if kind == "list":
            yield f"{key}: {client.lrange(key, 0, -1)}"
        elif kind == "stream":
            yield f"{key}: {client.xrange(key)}"
        elif kind == "string":
            yield f"{key}: {client.get(key)}"
        elif kind == "hash":
            yield f"{key}: {client.hgetall(key)}"
        elif kind == "set":
            yield f"{key}: {client.smembers(key)}"
        elif kind == "zset":
            yield f"{key}: {client.zrange(key, 0, -1)}"


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def report_on(cast: Cast, model: ChatModel) -> str:
    """What an admin reads of a test of the model."""
    page = signed_in(cast.admin).post(reverse("admin:registry_chatmodel_test", args=[model.pk]))
    assert page.context["report"].token == "", "nothing good was found"
    return page.content.decode()


def shown(cast: Cast, run: Run) -> Iterator[str]:
    """What people and programs see of a run and of its model."""
    admin, reviewer = signed_in(cast.admin), signed_in(cast.reviewer)
    model = ChatModel.objects.get(name="canary")
    asked = run.events.filter(kind="ModelRequested").values_list("number", flat=True)
    for address in (
        f"/c/{run.conversation.public_id}/",
        f"/api/v1/runs/{run.public_id}",
        f"/api/v1/runs/{run.public_id}/events",
        reverse("admin:registry_chatmodel_changelist"),
        reverse("admin:registry_chatmodel_change", args=[model.pk]),
        reverse("admin:runs_run_change", args=[run.pk]),
        reverse("admin:index"),
    ):
        response = admin.get(address)
        yield f"{address}: {b''.join(response) if response.streaming else response.content}"
    yield str(reviewer.get(f"/audit/runs/{run.public_id}/").content)
    for number in asked:
        yield str(reviewer.get(f"/audit/runs/{run.public_id}/requests/{number}").content)


def test_no_key_is_found_anywhere_after_everything_has_failed(worked, process, model, valkey, jobs, caplog):
    for name in ("", *CALM, "django", "asyncio"):
        caplog.set_level(logging.DEBUG, logger=name or None)
    places: list[str] = []
    with written() as log:
        for fault, server in FAULTS.items():
            with serving(server):
                address = server.base_url.replace("http:", "https:") if fault == "no TLS" else server.base_url
                ChatModel.objects.filter(pk=model.pk).update(base_url=address)
                run = advance(process, worked.run(fault, "team"))
                assert run.outcome == Run.Outcome.FAILED, fault
                places.extend(shown(worked, run) if not places else ())
                places.append(report_on(worked, model))
            if fault != "no TLS":
                assert server.keys[-1] == f"Bearer {KEY}", "it was sent"
    assert len(log.lines) > 50 and any(line["level"] == "debug" for line in log.lines)
    assert len(jobs.sent) == len(FAULTS)
    places.extend((log.text, *rows(), *stored_in(valkey.client), *jobs.sent))
    for secret in (KEY, HEADER):
        assert [place[:200] for place in places if secret in place] == []
