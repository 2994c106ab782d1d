"""The compose file's services as processes of this machine: their own commands and environment, on real servers."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx2
import psycopg
from django.contrib.auth.hashers import Argon2PasswordHasher

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
    "LEASE_SECONDS": "3",  # so that nobody waits half a minute after a kill
}
READY_SECONDS, STOP_SECONDS = 120.0, 60.0
HOLDER = (
    "SELECT worker.name FROM runs_run AS run JOIN runs_workerprocess AS worker ON run.owner_id = worker.id "
    "WHERE run.public_id = %s AND run.status = 'running'"
)


class Site:
    """Services started as the engine would, with this machine's addresses in place of the containers'. Of `web` and
    `worker` there may be several: `web-1`, `web-2` …, each with a port of its own."""

    def __init__(self, folder: Path, database: str, redis: str) -> None:
        self._folder, self._database = folder, database
        self._services = services(GIVEN)
        places = {"DATA_DIR": str(folder / "data"), "DATABASE_URL": database, "REDIS_URL": redis}
        self._places = {**places, "SWEEP_SECONDS": "0.5"}
        self._ports: dict[str, int] = {}
        self.running: dict[str, subprocess.Popen[bytes]] = {}

    def start(self, *names: str) -> None:
        for name in names:
            with (self._folder / f"{name}.log").open("wb") as log:
                self.running[name] = subprocess.Popen(
                    self._command(name), cwd=ROOT, env=self._env(name), stdout=log, stderr=log
                )

    def run(self, name: str) -> subprocess.CompletedProcess[str]:
        """A service to its end."""
        return subprocess.run(
            self._command(name), cwd=ROOT, env=self._env(name), capture_output=True, text=True, check=False
        )

    def begin(self, *arguments: str) -> subprocess.Popen[str]:
        """Another command of manage.py in the surroundings of the site."""
        command = [sys.executable, "manage.py", *arguments]
        env, pipe = self._env("web"), subprocess.PIPE
        return subprocess.Popen(command, cwd=ROOT, env=env, stdout=pipe, stderr=subprocess.STDOUT, text=True)

    def give_password(self, name: str, password: str) -> None:
        """What `manage.py changepassword` writes, without starting another process."""
        with psycopg.connect(self._database) as connection:
            stored = (Argon2PasswordHasher().encode(password, "saltsaltsalt"), name)
            assert connection.execute("UPDATE teams_user SET password = %s WHERE username = %s", stored).rowcount == 1

    def stop(self) -> dict[str, int]:
        """End all that runs, as an engine does; each with its exit status."""
        for process in self.running.values():
            process.send_signal(signal.SIGTERM)
        return {name: self.running[name].wait(STOP_SECONDS) for name in self.running}

    def kill(self, name: str) -> None:
        process = self.running.pop(name)
        process.kill()
        process.wait()

    def port(self, name: str) -> int:
        return self._ports.setdefault(name, free_port())

    def wait_until_ready(self, *webs: str) -> None:
        """Until each of them knows of a worker."""
        try:
            for name in webs:
                until(lambda name=name: self.health("live", name) == 200, READY_SECONDS, f"{name} lives")
                until(lambda name=name: self.health("ready", name) == 200, READY_SECONDS, f"{name} knows a worker")
        except AssertionError as late:
            raise AssertionError(f"{late}\n{self.logs()}") from late

    def workers_alive(self) -> int:
        [count] = self._asks("SELECT count(*) FROM runs_workerprocess", ())
        return int(count)

    def holder(self, run: str) -> str:
        """The service that works on the run now, "" when none does."""
        found = self._asks(HOLDER, (run,))
        pid = found[0].rpartition(":")[2] if found else ""
        return next((name for name, process in self.running.items() if str(process.pid) == pid), "")

    def log(self, name: str) -> str:
        return (self._folder / f"{name}.log").read_text()

    def logs(self) -> str:
        return "\n".join(f"--- {path.name}\n{path.read_text()[-3000:]}" for path in self._folder.glob("*.log"))

    def get(self, name: str, path: str, *, host: str = HOST, tls: bool = True) -> httpx2.Response:
        headers = {"Host": host} | ({"X-Forwarded-Proto": "https", "X-Forwarded-For": "192.0.2.1"} if tls else {})
        return httpx2.get(f"http://127.0.0.1:{self.port(name)}{path}", headers=headers, timeout=30, trust_env=False)

    def health(self, page: str, name: str) -> int:
        """What the health check of the web container sees."""
        return health.ask(page, self._services["web"].env | {"PORT": str(self.port(name))})[0]

    def _asks(self, query: str, values: tuple[str, ...]) -> tuple[str, ...] | None:
        with psycopg.connect(self._database) as connection:
            return connection.execute(query, values).fetchone()

    def _command(self, name: str) -> list[str]:
        places = {"python": sys.executable, "0.0.0.0": "127.0.0.1", "agentweb@%h": f"{name}@%h"}
        command = [places.get(each, each) for each in self._service(name).command]
        return [str(self.port(name)) if each == "8000" else each for each in command]

    def _env(self, name: str) -> dict[str, str]:
        surroundings = {each: os.environ[each] for each in ("PATH", "HOME", "TMPDIR") if each in os.environ}
        return surroundings | self._service(name).env | self._places

    def _service(self, name: str) -> Service:
        return self._services[name.partition("-")[0]]


@contextmanager
def site_on(folder: Path) -> Iterator[Site]:
    with ExitStack() as stack:
        server = stack.enter_context(databases.postgres_server())
        database = stack.enter_context(databases.postgres_database(server, f"agentweb_compose_{os.getpid()}"))
        valkey = ValkeyServer(folder)
        stack.callback(valkey.stop)
        valkey.start()
        site = Site(folder, database, valkey.url)
        stack.callback(lambda: [site.kill(name) for name in list(site.running)])
        yield site
