"""The files of one conversation, confined to its folder; tools and the HTTP API share this core.

Each folder on the way is opened through the one above it and links are never followed, so nothing that changes in
the folder meanwhile can lead outside. Writing and deleting hold a lock across processes. POSIX systems only.
"""

import errno
import fcntl
import os
import stat
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from agentweb.toolbox.confined import (
    FOLDER,
    all_files,
    in_words,
    look,
    open_file,
    prune,
    refuse_twin,
    replace,
    walked,
)
from agentweb.toolbox.former import Keep
from agentweb.toolbox.paths import NotFound, Refused, TooLarge, parse, parse_folder


@dataclass(frozen=True, slots=True)
class SizeLimits:
    """The most that one written file, and all files together, may hold; sizes in bytes."""

    file_bytes: int = 1_000_000
    total_bytes: int = 50_000_000
    files: int = 1_000


TOOL_LIMITS = SizeLimits()
UPLOAD_LIMITS = SizeLimits(file_bytes=5_000_000)


@dataclass(frozen=True, slots=True)
class Entry:
    """One file; ``size`` in bytes, ``modified_at`` in UTC."""

    path: str
    size: int
    modified_at: datetime


class Workspace:
    """A folder that need not exist yet: reading from it then finds nothing, and the first write makes it.

    Every method raises WorkspaceError, or one of its kinds: NotFound, Refused, TooLarge.
    """

    def __init__(self, root: Path, limits: SizeLimits = TOOL_LIMITS) -> None:
        self.root = root
        self.limits = limits

    def list(self, folder: str = "") -> list[Entry]:
        """The files in the folder and below, by path. Links, special files and half-written files are left out."""
        parts = parse_folder(folder)
        if not parts and not self.root.exists():
            return []
        with in_words(folder), self._base(f'There is no folder "{folder}".') as base, walked(base, parts) as fd:
            return sorted(_entries(fd, "".join(f"{part}/" for part in parts)), key=lambda entry: entry.path)

    def stat(self, path: str) -> Entry:
        with self.open(path) as file:
            return _entry(path, os.fstat(file.fileno()))

    def open(self, path: str) -> BinaryIO:
        """The file, open for reading; close it."""
        *folders, name = parse(path)
        with in_words(path), self._base(_missing(path)) as base, walked(base, folders) as folder:
            return os.fdopen(open_file(folder, name, path), "rb")

    def read_bytes(self, path: str, at_most: int | None = None) -> bytes:
        """The file's bytes, or its first ``at_most`` ones."""
        with self.open(path) as file, in_words(path):
            return file.read() if at_most is None else file.read(at_most)

    def write_bytes(self, path: str, data: bytes, *, keep: Keep | None = None) -> Entry:
        """Make or replace the file, whole or not at all; folders are made as needed. ``keep`` is told of the change
        right before it is made, here and below."""
        *folders, name = parse(path)
        self.check_size(path, len(data))
        with in_words(path):
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with in_words(path), self._locked(path) as base:
            return self._put(base, folders, name, path, data, keep)

    def change(self, path: str, edit: Callable[[bytes], bytes], *, keep: Keep | None = None) -> Entry:
        """Replace the file by what ``edit`` makes of it; nobody else writes in between. ``edit`` may raise."""
        *folders, name = parse(path)
        with in_words(path), self._locked(path) as base:
            with walked(base, folders) as folder, os.fdopen(open_file(folder, name, path), "rb") as file:
                data = edit(file.read())
            self.check_size(path, len(data))
            return self._put(base, folders, name, path, data, keep)

    def delete(self, path: str, *, keep: Keep | None = None) -> Entry:
        """Remove the file, and the folders that it leaves empty; gives what it was."""
        *folders, name = parse(path)
        with in_words(path), self._locked(path) as base:
            return self._remove(base, folders, name, path, keep)

    def put_back(
        self, path: str, data: bytes | None, *, check: Callable[[bytes | None], None], keep: Keep | None = None
    ) -> None:
        """Have the file hold this, or with None be gone. ``check`` is given what it holds now, and may raise."""
        *folders, name = parse(path)
        self.check_size(path, len(data or b""))
        with in_words(path):
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        with in_words(path), self._locked(path) as base:
            now = None
            with suppress(NotFound), walked(base, folders) as folder:
                now = _held(folder, name, path)
            check(now)
            if data is not None:
                self._put(base, folders, name, path, data, keep)
            elif now is not None:
                self._remove(base, folders, name, path, keep)

    def _remove(self, base: int, folders: Sequence[str], name: str, path: str, keep: Keep | None) -> Entry:
        with walked(base, folders) as folder:
            found = look(folder, name, path)
            if found is None:
                raise NotFound(_missing(path))
            if keep is not None:
                keep(_held(folder, name, path), None)
            os.unlink(name, dir_fd=folder)
        prune(base, folders)
        return _entry(path, found)

    def check_size(self, path: str, size: int) -> None:
        """Raises TooLarge when no file may be as large as ``size`` bytes."""
        if size > self.limits.file_bytes:
            most = readable_size(self.limits.file_bytes)
            raise TooLarge(f'"{path}" would have {readable_size(size)}; a file may have {most} at most.')

    def check_write(self, path: str, size: int) -> None:
        """Raises what `write_bytes` would raise now, without writing anything."""
        *folders, name = parse(path)
        self.check_size(path, size)
        if not self.root.exists():
            return
        with in_words(path), self._base(_missing(path)) as base:
            self._check_room(base, path, size, sweep=False)
            with suppress(NotFound), walked(base, folders) as folder:
                look(folder, name, path)
                refuse_twin(folder, name)

    @contextmanager
    def _base(self, missing: str) -> Iterator[int]:
        """The workspace's own folder, open."""
        try:
            fd = os.open(self.root, FOLDER)
        except FileNotFoundError:
            raise NotFound(missing) from None
        except OSError as error:
            if error.errno in (errno.ELOOP, errno.ENOTDIR):
                raise Refused("The workspace is not a folder.") from error
            raise
        try:
            yield fd
        finally:
            os.close(fd)

    @contextmanager
    def _locked(self, path: str) -> Iterator[int]:
        with self._base(_missing(path)) as base:
            fcntl.flock(base, fcntl.LOCK_EX)  # ends when the folder is closed
            yield base

    def _put(self, base: int, folders: Sequence[str], name: str, path: str, data: bytes, keep: Keep | None) -> Entry:
        self._check_room(base, path, len(data), sweep=True)
        try:
            with walked(base, folders, make=True) as folder:
                look(folder, name, path)
                refuse_twin(folder, name)
                if keep is not None:
                    keep(_held(folder, name, path), data)
                return _entry(path, replace(folder, name, data))
        except BaseException:
            prune(base, folders)
            raise

    def _check_room(self, base: int, path: str, size: int, *, sweep: bool) -> None:
        """Files of every kind count, reachable or not."""
        others = [found.st_size for name, found in all_files(base, sweep=sweep) if name != path]
        if len(others) >= self.limits.files:
            raise TooLarge(f"The workspace is full: it may hold {self.limits.files:,} files.")
        if sum(others) + size > self.limits.total_bytes:
            most = readable_size(self.limits.total_bytes)
            raise TooLarge(f'The workspace is full: with "{path}" it would pass {most}.')


def readable_size(size: int) -> str:
    """Bytes as people read them: ``12 B``, ``1.2 kB``, ``3.4 MB``."""
    if size < 1000:
        return f"{size} B"
    unit, value = ("kB", size / 1e3) if size < 999_950 else ("MB", size / 1e6)
    return f"{value:.1f}".removesuffix(".0") + f" {unit}"


def _held(folder: int, name: str, path: str) -> bytes | None:
    """What the file holds; None where there is none."""
    try:
        with os.fdopen(open_file(folder, name, path), "rb") as file:
            return file.read()
    except (NotFound, FileNotFoundError):
        return None


def _missing(path: str) -> str:
    return f'There is no file "{path}".'


def _entries(fd: int, prefix: str) -> Iterator[Entry]:
    for path, info in all_files(fd, prefix):
        if stat.S_ISREG(info.st_mode) and info.st_nlink == 1:
            with suppress(Refused):  # a name that no tool could use
                parse(path)
                yield _entry(path, info)


def _entry(path: str, info: os.stat_result) -> Entry:
    return Entry(path, info.st_size, datetime.fromtimestamp(info.st_mtime, UTC))
