"""A key and a secret header go through all that can fail with a model server, and are found nowhere else: in no log at
its most talkative, no row, no event, no page, no answer of the API, no job, nothing in Redis."""

import json
import logging
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID
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
    "a certificate that nobody has signed": ModelServer(),
    "nobody there": ModelServer(),
}
NOT_SENT = {"no TLS", "a certificate that nobody has signed", "nobody there"}
EXTENSION_KEY = "Zx81ExtensionCanary90210quux"


class KeyVault:
    """An extension that has the key of each call."""

    def api_key(self, model: str, base_url: str) -> str:
        return EXTENSION_KEY


@dataclass
class Jobs:
    """Takes jobs in place of the broker."""

    sent: list[str] = field(default_factory=list)

    def hint(self, task: str, about: Any, wait_s: float = 0) -> None:
        self.sent.append(f"{task}: {about}")


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


def self_signed(folder: Path) -> str:
    """A certificate of this machine's own with its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    began = datetime.now(UTC) - timedelta(days=1)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    made = builder.not_valid_before(began).not_valid_after(began + timedelta(days=9)).sign(key, hashes.SHA256())
    plain = (serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    file = folder / "server.pem"
    pem = serialization.Encoding.PEM
    file.write_bytes(key.private_bytes(pem, *plain) + made.public_bytes(pem))
    return str(file)


def address_of(fault: str, server: ModelServer) -> str:
    match fault:
        case "no TLS":
            return server.base_url.replace("http:", "https:")
        case "nobody there":
            return "http://127.0.0.1:9/v1"
    return server.base_url


@pytest.fixture
def talkative(caplog) -> None:
    for name in ("", *CALM, "django", "asyncio"):
        caplog.set_level(logging.DEBUG, logger=name or None)


def test_no_key_is_found_anywhere_after_everything_has_failed(
    worked, process, model, valkey, jobs, talkative, tmp_path
):
    FAULTS["a certificate that nobody has signed"].certificate = self_signed(tmp_path)
    places: list[str] = []
    with written() as log:
        for fault, server in FAULTS.items():
            with serving(server):
                ChatModel.objects.filter(pk=model.pk).update(base_url=address_of(fault, server))
                run = advance(process, worked.run(fault, "team"))
                assert run.outcome == Run.Outcome.FAILED, fault
                places.extend(shown(worked, run) if not places else ())
                places.append(report_on(worked, model))
            sent = [] if fault in NOT_SENT else [f"Bearer {KEY}"]
            assert server.keys[-1:] == sent, fault
    assert len(log.lines) > 50 and any(line["level"] == "debug" for line in log.lines)
    assert len(jobs.sent) == len(FAULTS)
    places.extend((log.text, *rows(), *stored_in(valkey.client), *jobs.sent))
    for secret in (KEY, HEADER):
        assert [place[:200] for place in places if secret in place] == []


def test_nor_is_one_that_an_extension_has(worked, process, model, valkey, jobs, talkative, settings):
    settings.AGENTWEB_SEAMS = [f"{__name__}.KeyVault"]
    words = ERROR.replace(KEY, EXTENSION_KEY)
    with written() as log, serving(ModelServer(status=401, answer=words)) as server:
        ChatModel.objects.filter(pk=model.pk).update(base_url=server.base_url)
        run = advance(process, worked.run("Go", "team"))
    assert run.outcome == Run.Outcome.FAILED
    assert server.keys == [f"Bearer {EXTENSION_KEY}"]
    places = [log.text, *rows(), *stored_in(valkey.client), *jobs.sent, *shown(worked, run)]
    for secret in (KEY, HEADER, EXTENSION_KEY):
        assert [place[:200] for place in places if secret in place] == []
