"""Redis and a worker for programs that are not the launcher: single commands and tests.

Call these from the main thread: on Linux the children end with the thread that started them.
"""

import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agentweb.launch import commands, datadir, environment, process
from agentweb.launch.child import Command
from agentweb.launch.environment import Environment
from agentweb.launch.refusal import Refusal
from agentweb.launch.rundir import MARK, RunDirectory, borrowed
from agentweb.launch.runtime import Runtime
from agentweb.launch.valkey import configure

ROOT = Path(__file__).resolve().parents[2]
READY_SECONDS = 60.0
_POLL_SECONDS = 0.02
_STOP_SECONDS = 10.0
_SHOWN_LINES = 15


class Service:
    """A process that belongs to this one until `stop`."""

    def __init__(self, command: Command, run_dir: RunDirectory, log: Path | None) -> None:
        self._command, self._run_dir = command, run_dir
        with open(log or os.devnull, "ab") as sink:
            self.process = process.spawn(
                command.argv,
                env={**command.env, MARK: str(run_dir.path)},
                cwd=ROOT,
                stdout=sink,
                stderr=subprocess.STDOUT,
                pass_fds=command.pass_fds,
            )
        run_dir.record(command.name, self.process.pid)

    def stop(self) -> None:
        """SIGTERM, then SIGKILL of its group. Stopping twice does nothing."""
        process.end(self.process, self._command.grace)
        self._run_dir.forget(self._command.name)


@dataclass(frozen=True)
class EmbeddedRedis:
    """A running server. Use as a context manager, or call `stop`."""

    url: str
    service: Service
    run_dir: RunDirectory

    def stop(self) -> None:
        """End the server; its data stay."""
        self.service.stop()
        self.run_dir.release()

    def __enter__(self) -> "EmbeddedRedis":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def embedded_redis(folder: Path, surroundings: Mapping[str, str] | None = None) -> EmbeddedRedis:
    """Start the embedded server with its data in `folder`; an abandoned one on the same folder is ended first.

    Raises Refusal when there is no server, or when another living process uses the folder.
    """
    run_dir = RunDirectory(folder.resolve() / "run" / "redis")
    run_dir.take()
    run_dir.end_leftovers()
    return _start_redis(run_dir, folder.resolve(), os.environ if surroundings is None else surroundings)


def _start_redis(run_dir: RunDirectory, folder: Path, surroundings: Mapping[str, str]) -> EmbeddedRedis:
    server = configure(folder / "valkey", run_dir.path, surroundings)
    log = folder / "valkey.log"
    redis = EmbeddedRedis(server.url, Service(Command("valkey", server.argv, surroundings), run_dir, log), run_dir)
    deadline = time.monotonic() + READY_SECONDS
    while not server.answers():
        if time.monotonic() > deadline or redis.service.process.poll() is not None:
            redis.stop()
            raise Refusal(f"Valkey did not start; its lines are in {log}.")
        time.sleep(_POLL_SECONDS)
    return redis


def start_worker(settings: Environment, env: Mapping[str, str], run_dir: RunDirectory, log: Path) -> Service:
    """One worker process. It has started, and is not ready yet: its work waits in the queue until it is."""
    return Service(commands.worker(1, settings, env), run_dir, log)


@dataclass(frozen=True)
class Running:
    """What works on a data folder: where its Redis is, and the worker of our own, if there was none."""

    redis_url: str
    worker: Service | None = None
    log: Path | None = None

    def obituary(self) -> str:
        """The last lines of a worker of our own that has ended by itself; empty while all is well."""
        if self.worker is None or self.log is None or self.worker.process.poll() is None:
            return ""
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()[-_SHOWN_LINES:]
        return "\n  ".join(["The worker has ended. Its last lines:", *lines]) + "\n"


@contextmanager
def running_or_started(
    surroundings: Mapping[str, str] | None = None,
    root: Path = ROOT,
    before_worker: Callable[[str], None] = lambda redis_url: None,
) -> Iterator[Running]:
    """What works on the data folder: `up` where that runs, else a Redis and a worker of our own.

    `before_worker` is called with the address of a Redis of our own, to prepare the data that the worker needs.
    Several programs may do this at once on one data folder: the rows of the database decide who does what.
    """
    settings = environment.load(os.environ if surroundings is None else surroundings, root)
    datadir.prepare(settings.data_dir)
    runtime = Runtime.read(settings.data_dir)
    if runtime:
        yield Running(runtime.redis_url)
        return
    run_dir = borrowed(settings.data_dir / "run", "ask")
    try:
        with _redis_for(settings, run_dir) as url:
            datadir.secret_key(settings.data_dir)
            before_worker(url)
            log = run_dir.path / "worker.log"
            worker = start_worker(settings, settings.for_children(REDIS_URL=url), run_dir, log)
            try:
                yield Running(url, worker, log)
            finally:
                worker.stop()
    finally:
        run_dir.discard()


@contextmanager
def _redis_for(settings: Environment, run_dir: RunDirectory) -> Iterator[str]:
    if settings.redis_url:
        yield settings.redis_url
        return
    with _start_redis(run_dir, run_dir.path, settings.values) as redis:
        yield redis.url
