"""The compose file's own commands and environment as processes, on a real PostgreSQL and a real Valkey: two web
processes and three workers behind a plain proxy."""

import json
from collections.abc import Iterator

import pytest

from tests.deploy.proxy import Proxy
from tests.deploy.site import HOST, READY_SECONDS, Site, site_on
from tests.deploy.visitor import Visitor
from tests.waiting import until

WEBS, WORKERS = ("web-1", "web-2"), ("worker-1", "worker-2", "worker-3")
PASSWORD = "a password for one test"
QUESTION = "Please build me a snake game"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[Site]:
    with site_on(tmp_path_factory.mktemp("site")) as made:
        prepared = made.run("prepare")
        assert prepared.returncode == 0, prepared.stderr
        assert "New people" in prepared.stderr and prepared.stdout == ""  # no password in the log of a container
        made.start(*WEBS, *WORKERS)
        yield made


@pytest.fixture
def proxy(site: Site) -> Iterator[Proxy]:
    made = Proxy([site.port(name) for name in WEBS])
    made.start()
    yield made
    made.stop()


def test_the_site_keeps_answering_a_person_while_a_web_process_and_a_worker_are_killed(site, proxy):
    checked = site.begin("check", "--deploy", "--fail-level", "WARNING")
    site.give_password("ann", PASSWORD)
    warned = checked.communicate()[0]
    assert checked.returncode == 0, warned
    site.wait_until_ready(*WEBS)
    until(lambda: site.workers_alive() == len(WORKERS), READY_SECONDS, "all workers are there")
    _answers_as_a_site_behind_tls_does(site)

    person = Visitor(HOST, proxy.port)
    person.sign_in("ann", PASSWORD)
    conversation = person.calls("POST", "/conversations", agent="Builder")["id"]
    run = person.calls("POST", f"/conversations/{conversation}/messages", text=QUESTION)["run"]
    watching = person.watch(conversation, run)
    sent_to, watched_on = proxy.last(f"/api/v1/conversations/{conversation}/messages"), proxy.last("/ws/")
    assert sent_to != watched_on
    watching.until_words()

    lost = until(lambda: site.holder(run), what="a worker has the run")
    site.kill(lost)
    site.kill(next(name for name in WEBS if site.port(name) == watched_on))
    watching.until_cut()
    watching = person.watch(conversation, run, watching.cursor)
    assert proxy.last("/ws/") == sent_to
    watching.until_event("RunResumed")
    watching.until_event("ApprovalRequested")

    for approval in person.calls("GET", "/approvals?status=pending")["items"]:
        decision = {"decision": "approve", "digest": approval["digest"]}
        person.calls("POST", f"/approvals/{approval['id']}/decision", **decision)
    watching.until_event("RunFinished")
    watching.close()
    assert person.calls("GET", f"/runs/{run}")["outcome"] == "answered"

    codes = site.stop()
    assert {code for name, code in codes.items() if name in WORKERS} == {0}
    for name in codes:
        assert _every_line_is_json(site.log(name)), site.log(name)


def _answers_as_a_site_behind_tls_does(site: Site) -> None:
    for name in WEBS:
        plain = site.get(name, "/accounts/login/", tls=False)
        assert (plain.status_code, plain.headers["Location"]) == (301, f"https://{HOST}/accounts/login/")
        page = site.get(name, "/accounts/login/")
        assert page.status_code == 200 and page.headers["Strict-Transport-Security"] == "max-age=2592000"
        assert all("Secure" in cookie for cookie in page.headers.get_list("Set-Cookie"))
        assert site.get(name, "/static/css/base.css").status_code == 200
        assert site.get(name, "/accounts/login/", host="elsewhere.example").status_code == 400


def _every_line_is_json(text: str) -> bool:
    """But for the one that Celery writes by itself when it is told to stop."""
    lines = [line for line in text.splitlines() if line and line != "worker: Warm shutdown (MainProcess)"]
    return all(isinstance(json.loads(line), dict) for line in lines)
