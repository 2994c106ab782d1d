"""Where the lines of the children go: one stream with prefixes, and a file for each child."""

import os
import select
import sys
from collections import deque
from pathlib import Path
from typing import BinaryIO

_COLOURS = ("36", "33", "35", "32", "34", "31")
_MOST_WAITING = 2000
_PIECE = 512
"""Bytes a write: a pipe that is reported writable takes at least this much without blocking (POSIX PIPE_BUF)."""

LARGEST_FILE = 10_000_000


class Console:
    """The launcher's standard output. A reader that does not read loses lines; it never holds up the children."""

    def __init__(self, descriptor: int | None = None) -> None:
        self._descriptor = sys.stdout.fileno() if descriptor is None else descriptor
        self.is_terminal = os.isatty(self._descriptor)
        self._colourful = self.is_terminal and "NO_COLOR" not in os.environ
        self._colours: dict[str, str] = {}
        self._waiting: deque[bytes] = deque()
        self._lost = 0

    def say(self, text: str = "") -> None:
        """A line of the launcher's own."""
        self._put(text)

    def line(self, name: str, text: str) -> None:
        """A line of a child."""
        prefix = f"{name:<9}|"
        if self._colourful:
            colour = self._colours.setdefault(name, _COLOURS[len(self._colours) % len(_COLOURS)])
            prefix = f"\x1b[{colour}m{prefix}\x1b[0m"
        self._put(f"{prefix} {text}")

    def _put(self, text: str) -> None:
        self.flush()
        if len(self._waiting) >= _MOST_WAITING:
            self._lost += 1
            return
        if self._lost:
            self._queue(f"({self._lost} lines were not shown; see the log files)")
            self._lost = 0
        self._queue(text)
        self.flush()

    def _queue(self, text: str) -> None:
        data = (text + "\n").encode("utf-8", "backslashreplace")
        self._waiting.extend(data[at : at + _PIECE] for at in range(0, len(data), _PIECE))

    def flush(self, seconds: float = 0) -> None:
        """Write what the reader takes now, or within `seconds` for each piece."""
        try:
            while self._waiting and select.select([], [self._descriptor], [], seconds)[1]:
                os.write(self._descriptor, self._waiting[0])
                self._waiting.popleft()
        except OSError:  # nobody is there any more
            self._waiting.clear()


class LogFile:
    """The file of one child. At ten megabytes it becomes `<name>.log.1` and starts anew."""

    def __init__(self, path: Path) -> None:
        self._path = path
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._file = self._open()

    def write(self, text: str) -> None:
        """Append a line."""
        self._file.write((text + "\n").encode("utf-8", "backslashreplace"))
        self._file.flush()
        if self._file.tell() > LARGEST_FILE:
            self._file.close()
            self._path.replace(self._path.with_name(self._path.name + ".1"))
            self._file = self._open()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _open(self) -> BinaryIO:
        return open(os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "ab")
