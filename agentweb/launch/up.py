"""`manage.py up`: starts everything, says where it is, and keeps it running until it is told to stop."""

import argparse
import os
import socket
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from agentweb.launch import commands, datadir, environment, process, web
from agentweb.launch.child import Child
from agentweb.launch.environment import Environment
from agentweb.launch.output import Console
from agentweb.launch.refusal import Refusal
from agentweb.launch.rundir import RunDirectory
from agentweb.launch.runtime import Runtime
from agentweb.launch.supervisor import Supervisor, described
from agentweb.launch.valkey import configure, is_reachable

ROOT = Path(__file__).resolve().parents[2]
MANAGE = str(ROOT / "manage.py")
READY_SECONDS = 60.0
REMOTE_SECONDS = 10.0
_DEFAULT_PORTS = {"postgres": 5432, "postgresql": 5432, "psql": 5432, "pgsql": 5432, "redis": 6379, "rediss": 6379}


def main(arguments: Sequence[str]) -> int:
    """Run until stopped. 0: ended well; 1: could not start or go on; 2: something is set wrong."""
    options = _parsed(arguments)
    os.umask(0o077)
    if options.with_parent:
        process.ending_with(os.getppid())()
    try:
        _require_packages()
        settings = environment.load(os.environ, ROOT, port=options.port, workers=options.workers)
        datadir.prepare(settings.data_dir)
        run_dir = RunDirectory(settings.data_dir / "run" / "up")
        run_dir.take()
        return Start(settings, run_dir, Console(), os.getppid() if options.with_parent else None).run()
    except Refusal as refusal:
        print(f"agentweb: {refusal.sentence}", file=sys.stderr)
        return refusal.status


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="manage.py up", description=__doc__)
    parser.add_argument("--port", type=int, help="port of the site (PORT; 8000 or the next free one)")
    parser.add_argument("--workers", type=int, help="worker processes (WORKERS; half of the cores, 4 at most)")
    parser.add_argument("--with-parent", action="store_true", help="stop when the process that started this one ends")
    return parser.parse_args(arguments)


def _require_packages() -> None:
    for name in ("django", "celery", "daphne"):
        if find_spec(name) is None:
            raise Refusal(f"{sys.executable} has no package named {name!r}: start with `make up`, which installs it.")


class Start:
    """One start, from an empty data folder or a used one, to its end."""

    def __init__(self, settings: Environment, run_dir: RunDirectory, console: Console, parent: int | None) -> None:
        self.settings, self.run_dir, self.console = settings, run_dir, console
        self.parent = parent
        self.sign_in = ""
        self.redis_url = settings.redis_url or ""

    def run(self) -> int:
        """Start, serve, stop. Whatever happens, no child is left and the way to sign in has been shown."""
        for name in self.run_dir.end_leftovers():
            self.console.say(f"Ended {name}, left over from an earlier start.")
        logs = self.settings.data_dir / "logs"
        with (
            web.listen(self.settings) as listener,
            Supervisor(cwd=ROOT, run_dir=self.run_dir, logs=logs, console=self.console) as supervisor,
        ):
            try:
                self._bring_up(supervisor, listener)
                supervisor.serve()
            finally:
                clean = self._take_down(supervisor)
        if supervisor.failed:
            raise Refusal(_obituary(supervisor.failed))
        return 0 if clean else 1

    def _bring_up(self, supervisor: Supervisor, listener: socket.socket) -> None:
        port = int(listener.getsockname()[1])
        if self.parent:
            supervisor.stop_with(self.parent)
        if port != self.settings.port:
            self.console.say(f"Port {self.settings.port} is taken, so the site is on port {port}.")
        datadir.secret_key(self.settings.data_dir)
        self._start_redis(supervisor)
        env = self._logging_for_reader() | self.settings.for_children(REDIS_URL=self.redis_url)
        if not self._prepare(supervisor, env):
            return
        supervisor.on_change = lambda: self._note_runtime(supervisor, port)
        for number in range(1, self.settings.workers + 1):
            supervisor.start(commands.worker(number, self.settings, env))
        supervisor.start(commands.web(listener.fileno(), env))
        self._await_site(supervisor, listener, port)

    def _logging_for_reader(self) -> dict[str, str]:
        """Children write into pipes: only the launcher knows whether a person reads their lines."""
        return {"LOG_FORMAT": "text"} if self.console.is_terminal else {}

    def _start_redis(self, supervisor: Supervisor) -> None:
        _require_reachable("REDIS_URL", self.settings.redis_url)
        _require_reachable("DATABASE_URL", self.settings.database_url)
        if self.redis_url:
            return
        server = configure(self.settings.data_dir / "valkey", self.run_dir.path, self.settings.values)
        self.redis_url = server.url
        supervisor.start(commands.valkey(server, self.settings))
        if not supervisor.wait_for(server.answers, READY_SECONDS) and not supervisor.must_stop:
            raise Refusal(f"Valkey did not answer within {READY_SECONDS:g} s; its lines are in {self._log('valkey')}.")

    def _prepare(self, supervisor: Supervisor, env: dict[str, str]) -> bool:
        """Whether to go on."""
        command = commands.prepare(env, MANAGE)
        status, self.sign_in = supervisor.run(command)
        if status:
            lines = "\n  ".join(supervisor.children[command.name].lines)
            raise Refusal(f"The data could not be prepared (it {described(status)}). Its last lines:\n  {lines}")
        return status is not None

    def _await_site(self, supervisor: Supervisor, listener: socket.socket, port: int) -> None:
        probe = web.ReadinessProbe(listener, self.settings.values)
        if supervisor.wait_for(probe, READY_SECONDS):
            self.console.say(f"\nagentweb is ready: {web.url(self.settings, port)}")
            self._show_sign_in()
            self.console.say("Ctrl-C stops everything.\n")
        elif not supervisor.must_stop:
            raise Refusal(f"The site was not ready within {READY_SECONDS:g} s: {probe.missing}")

    def _show_sign_in(self) -> None:
        """Passwords are made once and kept nowhere, so they are shown even when the start fails after them."""
        if self.sign_in.strip():
            self.console.say(self.sign_in.rstrip())
        self.sign_in = ""

    def _note_runtime(self, supervisor: Supervisor, port: int) -> None:
        pids = {name: child.process.pid for name, child in supervisor.children.items() if child.process}
        url = web.url(self.settings, port)
        Runtime(redis_url=self.redis_url, url=url, port=port, pids=pids).write(self.settings.data_dir)

    def _take_down(self, supervisor: Supervisor) -> bool:
        self._show_sign_in()
        supervisor.on_change = lambda: None
        clean = supervisor.stop()
        Runtime.remove(self.settings.data_dir)
        self.run_dir.end_leftovers()
        self.run_dir.release()
        self.console.say("Everything is stopped." if clean else "Everything is stopped; not all of it by itself.")
        self.console.flush(1.0)
        return clean

    def _log(self, name: str) -> Path:
        return self.settings.data_dir / "logs" / f"{name}.log"


def _obituary(child: Child) -> str:
    lines = "\n  ".join(child.lines)
    status = described(child.status or 0)
    return f"{child.command.name} {status} three times within a minute, so all is stopped. Its last lines:\n  {lines}"


def _require_reachable(name: str, address: str | None) -> None:
    url = urlsplit(address or "")
    port = url.port or _DEFAULT_PORTS.get(url.scheme)
    if url.hostname and port and not is_reachable(url.hostname, port):
        raise Refusal(f"{name}: nothing answers at {url.hostname}:{port}.")
