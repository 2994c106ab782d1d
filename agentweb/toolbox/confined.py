"""Opening, replacing and removing files below an open folder, without ever following a link.

Folders and files are found by one name at a time, below a descriptor that is already open, so swapping a folder for
a link while a call works does not lead it elsewhere.
"""

import errno
import os
import secrets
import stat
import time
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress

from agentweb.toolbox.paths import PART_PREFIX, NotFound, Refused, WorkspaceError

FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # opening a pipe must not wait for a writer
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_STALE_S = 3600.0  # a half-written file that is older was left by a crash


@contextmanager
def in_words(path: str) -> Iterator[None]:
    """Turn what the operating system says into a sentence."""
    try:
        yield
    except OSError as error:
        raise WorkspaceError(f'The file system refused "{path}": {error.strerror or error}.') from error


@contextmanager
def walked(base: int, folders: Sequence[str], *, make: bool = False) -> Iterator[int]:
    """The folder below ``base``, reached one name at a time."""
    fd = os.dup(base)
    try:
        for depth, name in enumerate(folders, 1):
            if make:
                _make_folder(fd, name)
            inner = _open_folder(fd, name, "/".join(folders[:depth]))
            os.close(fd)
            fd = inner
        yield fd
    finally:
        os.close(fd)


def _make_folder(fd: int, name: str) -> None:
    refuse_twin(fd, name)
    with suppress(FileExistsError):
        os.mkdir(name, mode=0o700, dir_fd=fd)


def _open_folder(fd: int, name: str, path: str) -> int:
    try:
        return os.open(name, FOLDER, dir_fd=fd)
    except FileNotFoundError:
        raise NotFound(f'There is no folder "{path}".') from None
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
        _refuse_link(fd, name, path)
        raise Refused(f'"{path}" is not a folder.') from None


def _refuse_link(fd: int, name: str, path: str) -> None:
    with suppress(FileNotFoundError):
        if stat.S_ISLNK(os.stat(name, dir_fd=fd, follow_symlinks=False).st_mode):
            raise Refused(f'"{path}" is a link; links are not followed.')


def open_file(folder: int, name: str, path: str) -> int:
    """Open for reading, and look at what was opened rather than at what the name meant a moment ago."""
    try:
        fd = os.open(name, _READ, dir_fd=folder)
    except FileNotFoundError:
        raise NotFound(f'There is no file "{path}".') from None
    except OSError as error:
        if error.errno == errno.ELOOP:
            raise Refused(f'"{path}" is a link; links are not followed.') from None
        if error.errno == errno.ENXIO:
            raise Refused(f'"{path}" is not a regular file.') from None
        raise
    try:
        _check_regular(os.fstat(fd), path)
    except BaseException:
        os.close(fd)
        raise
    return fd


def look(folder: int, name: str, path: str) -> os.stat_result | None:
    """What stands under the name: None or a regular file; anything else is refused."""
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    _check_regular(found, path)
    return found


def _check_regular(found: os.stat_result, path: str) -> None:
    if stat.S_ISLNK(found.st_mode):
        raise Refused(f'"{path}" is a link; links are not followed.')
    if stat.S_ISDIR(found.st_mode):
        raise Refused(f'"{path}" is a folder, not a file.')
    if not stat.S_ISREG(found.st_mode):
        raise Refused(f'"{path}" is not a regular file.')
    if found.st_nlink > 1:  # a second name may be outside the workspace
        raise Refused(f'"{path}" is the same file as one under another name.')


def refuse_twin(folder: int, name: str) -> None:
    """Names that differ only by case are one file on some systems, so a second one is never made."""
    names = os.listdir(folder)
    folded = _fold(name)
    twin = next((other for other in names if _fold(other) == folded), None)
    if twin is not None and name not in names:
        raise Refused(f'"{name}" differs from the existing "{twin}" only in capital letters.')


def _fold(name: str) -> str:
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())


def replace(folder: int, name: str, data: bytes) -> os.stat_result:
    """Write beside the file and put it in place at once, so that a reader sees the old or the new file."""
    part = f"{PART_PREFIX}{secrets.token_hex(8)}"
    fd = os.open(part, _NEW, 0o600, dir_fd=folder)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())  # else a power cut could leave the new name with nothing in it
            written = os.fstat(file.fileno())
        os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(part, dir_fd=folder)
        raise
    return written


def prune(base: int, folders: Sequence[str]) -> None:
    """Remove the folders from the innermost up, as long as they are empty."""
    for depth in range(len(folders), 0, -1):
        try:
            with walked(base, folders[: depth - 1]) as outer:
                os.rmdir(folders[depth - 1], dir_fd=outer)
        except NotFound:
            continue
        except (OSError, WorkspaceError):
            return


def all_files(fd: int, prefix: str = "", *, sweep: bool = False) -> Iterator[tuple[str, os.stat_result]]:
    """Everything below that is not a folder, links as themselves; ``sweep`` removes what a crash left half-written."""
    for name in os.listdir(fd):
        try:
            info = os.stat(name, dir_fd=fd, follow_symlinks=False)
        except FileNotFoundError:
            continue
        if stat.S_ISDIR(info.st_mode):
            try:
                inner = os.open(name, FOLDER, dir_fd=fd)
            except OSError:  # gone or changed meanwhile
                continue
            try:
                yield from all_files(inner, f"{prefix}{name}/", sweep=sweep)
            finally:
                os.close(inner)
        elif sweep and name.startswith(PART_PREFIX) and info.st_mtime < time.time() - _STALE_S:
            with suppress(FileNotFoundError):
                os.unlink(name, dir_fd=fd)
        else:
            yield prefix + name, info
