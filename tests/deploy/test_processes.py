"""The compose file's own commands and environment as processes, on a real PostgreSQL and a real Valkey."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import pytest

from agentweb.launch import health
from agentweb.launch.valkey import free_port
from tests import databases
from tests.deploy.compose import ROOT, Service, services
from tests.valkey import ValkeyServer
from tests.waiting import until

HOST = "chat.example.org"
GIVEN = {
    "SECRET_KEY": "only-for-tests-6fQ2zvN8kR4mXc1TjW9bLh3YpD7gS5aE0uVi",
    "POSTGRES_PASSWORD": "p",
    "VALKEY_PASSWORD": "v",
    "ALLOWED_HOSTS": HOST,
    "CSRF_TRUSTED_ORIGINS": f"https://{HOST}",
}
READY_SECONDS, STOP_SECONDS = 120.0, 60.0


class Site:
    """Services started as the engine would, with this machine's addresses in place of the containers'."""

    def __init__(self, folder: Path, database: str, redis: str) -> None:
        self._folder = folder
        self._services = services(GIVEN)
        self.port = free_port()
        self._places = {"DATA_DIR": str(folder / "data"), "DATABASE_URL": database, "REDIS_URL": redis}
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, name: str) -> None:
        with (self._folder / f"{name}.log").open("wb") as log:
            self.running[name] = subprocess.Popen(
                self._command(name), cwd=ROOT, env=self._env(name), stdout=log, stderr=log
            )

    def run(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A service to its end; with arguments, another command of manage.py in its surroundings."""
        command = [sys.executable, "manage.py", *arguments] if arguments else self._command(name)
        return subprocess.run(command, cwd=ROOT, env=self._env(name), capture_output=True, text=True, check=False)

    def stop(self, name: str) -> int:
        process = self.running.pop(name)
        process.send_signal(signal.SIGTERM)
        try:
            return process.wait(STOP_SECONDS)
        finally:
            process.kill()
            process.wait()

    def logs(self) -> str:
        return "\n".join(f"--- {path.name}\n{path.read_text()[-3000:]}" for path in self._folder.glob("*.log"))

    def get(self, path: str, *, host: str = HOST, tls: bool = True) -> httpx2.Response:
        headers = {"Host": host} | ({"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1"} if tls else {})
        return httpx2.get(f"http://127.0.0.1:{self.port}{path}", headers=headers, timeout=30, trust_env=False)

    def health(self, page: str) -> int:
        """What the health check of the web container sees."""
        return health.ask(page, self._services["web"].env | {"PORT": str(self.port)})[0]

    def _command(self, name: str) -> list[str]:
        places = {"python": sys.executable, "0.0.0.0": "127.0.0.1", "8000": str(self.port)}
        return [places.get(each, each) for each in self._service(name).command]

    def _env(self, name: str) -> dict[str, str]:
        surroundings = {each: os.environ[each] for each in ("PATH", "HOME", "TMPDIR") if each in os.environ}
        return surroundings | self._service(name).env | self._places

    def _service(self, name: str) -> Service:
        return self._services[name]


@contextmanager
def site_on(folder: Path) -> Iterator[Site]:
    with ExitStack() as stack:
        server = stack.enter_context(databases.postgres_server())
        database = stack.enter_context(databases.postgres_database(server, f"agentweb_compose_{os.getpid()}"))
        valkey = ValkeyServer(folder)
        stack.callback(valkey.stop)
        valkey.start()
        site = Site(folder, database, valkey.url)
        stack.callback(lambda: [site.stop(name) for name in list(site.running)])
        yield site


@pytest.fixture
def site(tmp_path) -> Iterator[Site]:
    with site_on(tmp_path) as made:
        yield made


def test_the_services_start_answer_behind_a_proxy_and_stop(site):
    prepared = site.run("prepare")
    assert prepared.returncode == 0, prepared.stderr
    assert "New people" in prepared.stderr and prepared.stdout == ""  # no password in the log of a container
    checked = site.run("web", "check", "--deploy", "--fail-level", "WARNING")
    assert checked.returncode == 0, checked.stderr

    site.start("web")
    site.start("worker")
    try:
        until(lambda: site.health("live") == 200, READY_SECONDS, "the site lives")
        until(lambda: site.health("ready") == 200, READY_SECONDS, "a worker is there")
    except AssertionError as late:
        raise AssertionError(f"{late}\n{site.logs()}") from late

    plain = site.get("/accounts/login/", tls=False)
    assert (plain.status_code, plain.headers["Location"]) == (301, f"https://{HOST}/accounts/login/")
    page = site.get("/accounts/login/")
    assert page.status_code == 200 and page.headers["Strict-Transport-Security"] == "max-age=2592000"
    assert all("Secure" in cookie for cookie in page.headers.get_list("Set-Cookie"))
    assert site.get("/static/css/base.css").status_code == 200
    assert site.get("/accounts/login/", host="elsewhere.example").status_code == 400

    assert site.stop("worker") == 0
    site.stop("web")
    assert site.health("live") == 0
