"""The real processes on a folder and a database of their own: Valkey, a model server, workers, the web process.

Each is started, stopped and killed by its name: `valkey`, `worker-1`, `worker-2` …, `web`; `model` serves scripted
tokens, `real-model` a small language model.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

from agentweb.launch import commands, environment, web
from agentweb.launch.child import Command
from agentweb.launch.rundir import RunDirectory
from agentweb.launch.services import Service
from agentweb.launch.valkey import configure, free_port
from tests.waiting import until

ROOT = Path(__file__).resolve().parent.parent
READY_SECONDS = 60.0
MODEL_SERVERS = {"model": ("tests.fake_llm", "--port"), "real-model": ("tests.real_model",)}
QUICK = {
    "LEASE_SECONDS": "3",
    "SWEEP_SECONDS": "0.5",
    "DRAIN_SECONDS": "5",
}
"""Short times, so that a test of what happens after a kill does not wait for half a minute."""

_ACCOUNT = re.compile(r"^\s+(\w+)\s+(\S+)\s+\(\w+\)\s*$", re.MULTILINE)


class Stack:
    """Nothing runs at first. `begin` brings up what a person needs, `close` ends what still runs."""

    def __init__(self, folder: Path, database_url: str, **variables: str) -> None:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "DJANGO_"))}
        self.folder = folder
        self.run_dir = RunDirectory(folder / "run" / "up")
        self.run_dir.take()
        port = free_port()
        self.settings = environment.load(
            inherited | QUICK | {"DATA_DIR": str(folder), "DATABASE_URL": database_url, "PORT": str(port)} | variables,
            folder,
        )
        self._valkey = configure(folder / "valkey", self.run_dir.path, inherited)
        self._listener = web.listen(self.settings)
        self._model_ports = {name: free_port() for name in MODEL_SERVERS}
        self._running: dict[str, Service] = {}
        self.passwords: dict[str, str] = {}
        self.redis_url = self._valkey.url
        self.url = f"http://127.0.0.1:{port}"
        self.model_url, self.real_model_url = (f"http://127.0.0.1:{port}/v1" for port in self._model_ports.values())
        own = {"SECRET_KEY": "a key for tests only, which guards nothing at all"}
        self.env = self.settings.for_children(**({"REDIS_URL": self.redis_url} | own | variables))

    def begin(self, workers: int = 1) -> None:
        """Prepare the data, start everything but the model server, and wait until the site is ready."""
        self.start("valkey")
        self.prepare()
        self.start(*(f"worker-{number}" for number in range(1, workers + 1)), "web")
        self.wait_until_ready()

    def prepare(self) -> None:
        """Migrations and the demo team; its passwords are in `passwords` after the first time."""
        self.passwords |= dict(_ACCOUNT.findall(self.manage("prepare").stdout))

    def manage(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """Run a command of manage.py to its end. AssertionError with what it printed when it fails."""
        ended = self.try_to_manage(*arguments, **variables)
        assert ended.returncode == 0, f"{arguments}: {ended.returncode}\n{ended.stdout}\n{ended.stderr}"
        return ended

    def try_to_manage(self, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        """As `manage`; a failure is an answer too."""
        command = [sys.executable, str(ROOT / "manage.py"), *arguments]
        env = self.env | variables
        return subprocess.run(
            command, env=env, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )

    def start(self, *names: str) -> None:
        """Start processes. They are not ready yet, but for Valkey and the model server."""
        for name in names:
            assert name not in self._running, f"{name} runs already"
            self._running[name] = Service(self._command(name), self.run_dir, self.folder / f"{name}.log")
            if name == "valkey":
                until(self._valkey.answers, what="Valkey answers")
            if name in MODEL_SERVERS:
                until(lambda: "/v1" in self.log(name), READY_SECONDS, "the model server listens")  # noqa: B023

    def stop(self, *names: str) -> None:
        """End processes as a person does: SIGTERM, and SIGKILL only after their grace."""
        for name in names:
            self._running.pop(name).stop()

    def kill(self, *names: str) -> None:
        """End processes with SIGKILL, all of them at once."""
        for name in names:
            self._running[name].process.kill()
        self.stop(*names)

    def pid(self, name: str) -> int:
        """The number of a process that runs."""
        return self._running[name].process.pid

    def log(self, name: str) -> str:
        """What a process has written so far."""
        path = self.folder / f"{name}.log"
        return path.read_text(errors="replace") if path.exists() else ""

    def wait_until_ready(self) -> None:
        """Wait for what /health/ready answers. AssertionError with what is missing and what the processes wrote."""
        probe = web.ReadinessProbe(self._listener, self.env)
        try:
            until(probe, READY_SECONDS, "the site is ready")
        except AssertionError as late:
            logs = "\n".join(f"--- {name}\n{self.log(name)[-3000:]}" for name in self._running)
            raise AssertionError(f"{late}: {probe.missing}\n{logs}") from late

    def client(self, token: str = "") -> httpx2.Client:
        """A program that talks to the site, with a token of the API or without."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return httpx2.Client(base_url=self.url, headers=headers, timeout=60, trust_env=False)

    def close(self) -> None:
        """End what runs, Valkey last."""
        self.stop(*sorted(self._running, key=lambda name: name == "valkey"))
        self._listener.close()
        self.run_dir.end_leftovers()
        self.run_dir.release()

    def _command(self, name: str) -> Command:
        if name == "valkey":
            return commands.valkey(self._valkey, self.settings)
        if name == "web":
            return commands.web(self._listener.fileno(), self.env)
        if name in MODEL_SERVERS:
            module, *options = MODEL_SERVERS[name]
            return Command(name, (sys.executable, "-m", module, *options, str(self._model_ports[name])), self.env)
        return commands.worker(int(name.removeprefix("worker-")), self.settings, self.env)


@contextmanager
def stack_on(folder: Path, database_url: str, **variables: str) -> Iterator[Stack]:
    """A stack that is closed whatever happens."""
    stack = Stack(folder, database_url, **variables)
    try:
        yield stack
    finally:
        stack.close()
