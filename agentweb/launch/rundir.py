"""Who runs on a data folder: a lock for the launcher, and a record of each process that it started.

`DATA_DIR/run/<name>/` belongs to one launcher at a time. The lock is the kernel's, so it ends with its holder,
however that one ends; the records let the next holder find and end what was left over.
"""

import fcntl
import json
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from agentweb.launch import process
from agentweb.launch.datadir import write_private_json
from agentweb.launch.refusal import Refusal

MARK = "AGENTWEB_RUN_DIR"
"""Environment variable that every process started here, and what it starts itself, carries."""

STOPPING_SECONDS = 20.0
LEFTOVER_SECONDS = 5.0
_POLL_SECONDS = 0.05
_HOLDER = "holder.json"


@dataclass(frozen=True)
class Holder:
    """What the holder of a place says of itself."""

    pid: int
    started: str
    stopping: bool


class RunDirectory:
    """One launcher's place. Use `take` to hold it; the lock is let go by `release` or by the end of the process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock: int | None = None

    def take(self) -> None:
        """Hold the place. Waits for a holder that is about to stop; raises Refusal naming one that is not."""
        self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        deadline = time.monotonic() + STOPPING_SECONDS
        while not self.try_to_take():
            holder = self._holder()
            if holder and (not holder.stopping or time.monotonic() > deadline):
                raise Refusal(
                    f"Process {holder.pid} already runs agentweb on {self.path.parent.parent}: "
                    "stop it first, or choose another DATA_DIR."
                )
            time.sleep(_POLL_SECONDS)

    def try_to_take(self) -> bool:
        """Hold the place if nobody does."""
        lock = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return False
        self._lock = lock
        self._sign(stopping=False)
        return True

    def is_held(self) -> bool:
        """Whether some process holds the place."""
        if not (self.path / "lock").exists():
            return False
        lock = os.open(self.path / "lock", os.O_RDWR)
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(lock)
        return False

    def _holder(self) -> "Holder | None":
        """Who holds the place. None in the moment in which it is taken, or looked at, and nobody has signed yet."""
        try:
            holder = Holder(**json.loads((self.path / _HOLDER).read_text()))
        except (OSError, ValueError, TypeError):
            return None
        return holder if process.is_running(process.Identity(holder.pid, holder.started)) else None

    def stopping(self) -> None:
        """Tell a successor that waiting is worth it."""
        if self._lock is not None:
            self._sign(stopping=True)

    def release(self) -> None:
        """Let the place go."""
        if self._lock is not None:
            (self.path / _HOLDER).unlink(missing_ok=True)
            os.close(self._lock)
            self._lock = None

    def discard(self) -> None:
        """Let the place go and remove it with all that it holds."""
        shutil.rmtree(self.path, ignore_errors=True)
        self.release()

    def record(self, name: str, pid: int) -> None:
        """Remember a process that was started. One that is gone already leaves no record."""
        who = process.identify(pid)
        if who:
            write_private_json(self.path / f"{name}.process", asdict(who))

    def forget(self, name: str) -> None:
        """Drop the record of a process that has ended."""
        (self.path / f"{name}.process").unlink(missing_ok=True)

    def recorded(self) -> Iterator[tuple[str, process.Identity]]:
        """Names and identities of the processes on record, running or not; the last one started comes first."""
        newest_first = sorted(self.path.glob("*.process"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in newest_first:
            try:
                yield path.stem, process.Identity(**json.loads(path.read_text()))
            except (OSError, ValueError, TypeError):
                path.unlink(missing_ok=True)

    def end_leftovers(self) -> list[str]:
        """End what an earlier holder left running; the names of those. Call while holding the place."""
        ended = []
        for name, who in [*self.recorded(), *self._marked()]:
            if process.is_running(who):
                ended.append(name)
                if not process.end_stranger(who, LEFTOVER_SECONDS):
                    raise Refusal(f"Process {who.pid} ({name}) is left from an earlier start and cannot be ended.")
            self.forget(name)
        return ended

    def _marked(self) -> Iterator[tuple[str, process.Identity]]:
        for who in process.marked(MARK, str(self.path)):
            yield f"process {who.pid}", who

    def _sign(self, *, stopping: bool) -> None:
        me = process.identify(os.getpid())
        assert me is not None
        write_private_json(self.path / _HOLDER, asdict(Holder(me.pid, me.started, stopping)))


def borrowed(parent: Path, purpose: str) -> "RunDirectory":
    """A place of this process's own, for a short time; those of killed processes are cleared away first.

    Remove it with `discard`.
    """
    for path in parent.glob(f"{purpose}-*"):
        pid = path.name.rpartition("-")[2]
        if not pid.isdigit() or not process.identify(int(pid)):
            abandoned = RunDirectory(path)
            abandoned.take()
            abandoned.end_leftovers()
            abandoned.discard()
    own = RunDirectory(parent / f"{purpose}-{os.getpid()}")
    own.take()
    return own
