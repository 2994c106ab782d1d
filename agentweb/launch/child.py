"""One child process: its command, its lines, its deaths."""

import os
import signal
import subprocess
import tempfile
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from agentweb.launch import process
from agentweb.launch.output import LogFile
from agentweb.launch.rundir import MARK, RunDirectory

KEPT_LINES = 25
LONGEST_LINE = 16_384
_PIECE = 65_536
_MOST_PIECES = 64
"""Read after the end: a grandchild in a group of its own may hold the pipe open and go on writing."""


@dataclass(frozen=True)
class Command:
    """What to run.

    `stage` orders the stop: all of stage 0 first. `grace` is in seconds, between asking and killing. A command with
    `once` is expected to end; its standard output is kept apart and never logged.
    """

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(repr=False)
    stage: int = 0
    grace: float = 10.0
    once: bool = False
    pass_fds: tuple[int, ...] = ()


class Child:
    """A command and the process that runs it now, if any. Each line goes to the log file and to `show`."""

    def __init__(self, command: Command, *, log: LogFile, show: Callable[[str, str], None]) -> None:
        self.command = command
        self.lines: deque[str] = deque(maxlen=KEPT_LINES)
        self.deaths: list[float] = []
        self.due: float | None = None
        self.status: int | None = None
        self.process: subprocess.Popen[bytes] | None = None
        self.pipe: IO[bytes] | None = None
        self._log, self._show = log, show
        self._rest = b""
        self._captured: IO[bytes] | None = tempfile.TemporaryFile() if command.once else None  # noqa: SIM115

    def launch(self, cwd: Path, run_dir: RunDirectory) -> None:
        """Start the process and record it."""
        self.due = None
        self.process = process.spawn(
            self.command.argv,
            env={**self.command.env, MARK: str(run_dir.path)},
            cwd=cwd,
            stdout=self._captured or subprocess.PIPE,
            stderr=subprocess.PIPE if self._captured else subprocess.STDOUT,
            pass_fds=self.command.pass_fds,
        )
        run_dir.record(self.command.name, self.process.pid)
        self.pipe = self.process.stderr if self._captured else self.process.stdout
        assert self.pipe is not None
        os.set_blocking(self.pipe.fileno(), False)

    def read(self) -> bool:
        """Take a piece of what is there; False when there is nothing. Endless lines are cut at LONGEST_LINE bytes."""
        if self.pipe is None:
            return False
        try:
            data = os.read(self.pipe.fileno(), _PIECE)
        except BlockingIOError:
            return False
        *lines, self._rest = (self._rest + data).split(b"\n")
        if self._rest and (not data or len(self._rest) > LONGEST_LINE):
            lines.append(self._rest)
            self._rest = b""
        for line in lines:
            self._take(line.rstrip(b"\r").decode("utf-8", "replace"))
        return bool(data)

    def _take(self, text: str) -> None:
        self.lines.append(text)
        self._log.write(text)
        self._show(self.command.name, text)

    def bury(self, run_dir: RunDirectory) -> int:
        """After the process has ended: end what it left in its group, take its last lines. Returns its exit status."""
        assert self.process and self.pipe
        process.signal_group(self.process.pid, signal.SIGKILL)
        pieces = 0
        while self.read() and pieces < _MOST_PIECES:
            pieces += 1
        self.status = status = self.process.wait()
        self.pipe.close()
        self.process = self.pipe = None
        run_dir.forget(self.command.name)
        return status

    def output(self) -> str:
        """The standard output of a command with `once`, after its end."""
        if self._captured is None:
            return ""
        self._captured.seek(0)
        return self._captured.read().decode("utf-8", "replace")

    def close(self) -> None:
        """Close the files."""
        self._log.close()
        if self._captured:
            self._captured.close()
