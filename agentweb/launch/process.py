"""Processes of the operating system: who they are, starting them so that they do not outlive us, ending them."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

_PROC = Path("/proc")
_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None
_POLL_SECONDS = 0.02


@dataclass(frozen=True)
class Identity:
    """A process that cannot be mistaken for a later one with the same number: number and moment of its start."""

    pid: int
    started: str


def identify(pid: int) -> Identity | None:
    """Who runs under this number now; None when nobody does (a zombie is nobody)."""
    started = _started_by_proc(pid) if _LIBC else _started_by_ps(pid)
    return Identity(pid, started) if started else None


def is_running(identity: Identity) -> bool:
    """Whether exactly this process still runs."""
    return identify(identity.pid) == identity


def _started_by_proc(pid: int) -> str | None:
    """Boot and clock tick of the start, from the fields after the command's closing parenthesis."""
    try:
        fields = (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
    except OSError:
        return None
    return None if fields[0] in "ZX" else f"{boot}/{fields[19]}"


def _started_by_ps(pid: int) -> str | None:
    """Second of the start, for systems without /proc."""
    answer = subprocess.run(["ps", "-o", "stat=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    state, _, started = answer.stdout.strip().partition(" ")
    return None if not state or state.startswith("Z") else started.strip()


def marked(variable: str, value: str) -> Iterator[Identity]:
    """Other processes whose environment has this variable with this value. Nothing on systems without /proc."""
    wanted = f"{variable}={value}".encode()
    for entry in _PROC.glob("[0-9]*") if _LIBC else ():
        try:
            found = wanted in (entry / "environ").read_bytes().split(b"\0")
        except OSError:
            continue
        who = identify(int(entry.name)) if found else None
        if who and who.pid != os.getpid():
            yield who


def spawn(
    argv: Sequence[str],
    *,
    env: Mapping[str, str],
    cwd: Path,
    stdout: int | IO[Any] | None = None,
    stderr: int | IO[Any] | None = None,
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a process in a session and group of its own, so that Ctrl-C in the terminal does not reach it.

    On Linux the kernel sends it SIGTERM when the *thread* that called this ends: call it from the main thread.
    """
    return subprocess.Popen(
        argv,
        env=dict(env),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=stdout,
        stderr=stderr,
        pass_fds=tuple(pass_fds),
        start_new_session=True,
        preexec_fn=ending_with(os.getpid()) if _LIBC else None,
    )


def ending_with(parent: int) -> Callable[[], None]:
    """A function that ties the calling process to its parent: SIGTERM when that one is gone (Linux only)."""

    def tie() -> None:
        if _LIBC is None:
            return
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
        if os.getppid() != parent:  # it died before the line above
            os._exit(1)

    return tie


def signal_group(leader: int, number: signal.Signals) -> None:
    """Send a signal to a process group; a group that is gone is no error."""
    with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: EPERM for a group of zombies
        os.killpg(leader, number)


def end(process: subprocess.Popen[bytes], grace: float) -> int:
    """Stop a child of ours with its group: SIGTERM, `grace` seconds, SIGKILL. Returns its exit status."""
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(grace)
        except subprocess.TimeoutExpired:
            signal_group(process.pid, signal.SIGKILL)
    signal_group(process.pid, signal.SIGKILL)  # what it started itself and left behind
    return process.wait()


def end_stranger(identity: Identity, grace: float) -> bool:
    """Stop a process that is not a child of this one, with the group that it leads. False: it cannot be stopped."""
    if not is_running(identity):
        return True
    leads = _group_of(identity.pid) == identity.pid
    _signal_one(identity, signal.SIGTERM)
    gone = _wait_until_gone(identity, grace)
    if leads:
        signal_group(identity.pid, signal.SIGKILL)
    else:
        _signal_one(identity, signal.SIGKILL)
    return gone or _wait_until_gone(identity, grace)


def _wait_until_gone(identity: Identity, seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while is_running(identity):
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _group_of(pid: int) -> int | None:
    try:
        return os.getpgid(pid)
    except ProcessLookupError:
        return None


def _signal_one(identity: Identity, number: signal.Signals) -> None:
    if is_running(identity):
        with contextlib.suppress(ProcessLookupError):
            os.kill(identity.pid, number)
