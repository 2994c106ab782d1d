"""Keeps the children running: reads their lines, restarts those that die, stops all of them in order.

Everything happens in the thread that calls `step`: no locks, and the kernel's tie between parent and child, which
belongs to a thread, holds as long as the launcher lives.
"""

import os
import selectors
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path

from agentweb.launch import process
from agentweb.launch.child import Child, Command
from agentweb.launch.output import Console, LogFile
from agentweb.launch.rundir import RunDirectory

DEATHS_ALLOWED = 3
DEATHS_WITHIN_SECONDS = 60.0
FIRST_PAUSE_SECONDS = 0.5
SAME_REQUEST_SECONDS = 1.0
"""Stop signals so close together are one wish: `make` passes on what a terminal or a service manager sent to both."""

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Supervisor:
    """The children of one launcher. Use as a context manager: it owns the signal handlers meanwhile."""

    def __init__(self, *, cwd: Path, run_dir: RunDirectory, logs: Path, console: Console) -> None:
        self.children: dict[str, Child] = {}
        self.failed: Child | None = None
        self.on_change: Callable[[], None] = lambda: None
        self._cwd, self._run_dir, self._logs, self._console = cwd, run_dir, logs, console
        self._selector = selectors.DefaultSelector()
        self._wakeup, self._waker = socket.socketpair()
        self._parent: int | None = None
        self._stopping = False
        self._stops_asked, self._asked_at = 0, float("-inf")

    def __enter__(self) -> "Supervisor":
        for end in (self._wakeup, self._waker):
            end.setblocking(False)
        self._selector.register(self._wakeup, selectors.EVENT_READ)
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        for number in (*_STOP_SIGNALS, signal.SIGCHLD):
            signal.signal(number, self._noticed)
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number in _STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)  # all is stopped: nothing is left to interrupt
        self._selector.close()
        self._wakeup.close()
        self._waker.close()
        for child in self.children.values():
            child.close()

    def _noticed(self, number: int, _frame: object) -> None:
        now = time.monotonic()
        if number != signal.SIGCHLD and now - self._asked_at > SAME_REQUEST_SECONDS:
            self._stops_asked, self._asked_at = self._stops_asked + 1, now

    def stop_with(self, parent: int) -> None:
        """Stop as well when this process is no longer our parent."""
        self._parent = parent

    @property
    def must_stop(self) -> bool:
        """Whether a person asked for the end, or a child cannot be kept alive."""
        return bool(self._stops_asked) or self.failed is not None

    def start(self, command: Command) -> Child:
        """Start a child. Unless it is to run once, it is restarted whenever it ends."""
        log = LogFile(self._logs / f"{command.name}.log")
        child = Child(command, log=log, show=self._console.line)
        self.children[command.name] = child
        self._launch(child)
        return child

    def run(self, command: Command) -> tuple[int | None, str]:
        """Run a command with `once` to its end: exit status and standard output. No status: the whole must stop."""
        child = self.start(command)
        ended = self.wait_for(lambda: child.process is None, float("inf"), every=1.0)
        return (child.status if ended else None), child.output()

    def wait_for(self, ready: Callable[[], bool], seconds: float, every: float = 0.05) -> bool:
        """Serve the children until `ready` says so. False when time is up or the whole must stop."""
        deadline = time.monotonic() + seconds
        while not ready():
            if self.must_stop or time.monotonic() > deadline:
                return False
            self.step(every)
        return True

    def serve(self) -> None:
        """Serve the children until the whole must stop."""
        while not self.must_stop:
            self.step(1.0)

    def step(self, seconds: float) -> None:
        """Handle what happens within so many seconds at most."""
        due = [child.due for child in self.children.values() if child.due is not None]
        soonest = min(due, default=float("inf")) - time.monotonic()
        for key, _ in self._selector.select(max(0.0, min(seconds, soonest))):
            if key.data is None:
                self._wakeup.recv(4096)
            elif not key.data.read():
                self._selector.unregister(key.fileobj)
        for child in self.children.values():
            self._look_after(child)
        if self._parent is not None and os.getppid() != self._parent:
            self._stops_asked = max(self._stops_asked, 1)
        self._console.flush()

    def _look_after(self, child: Child) -> None:
        if child.process and child.process.poll() is not None:
            self._bury(child)
        if child.due is not None and child.due <= time.monotonic() and not self.must_stop:
            self._launch(child)

    def _launch(self, child: Child) -> None:
        child.launch(self._cwd, self._run_dir)
        assert child.pipe is not None
        self._selector.register(child.pipe, selectors.EVENT_READ, child)
        self.on_change()

    def _bury(self, child: Child) -> None:
        if child.pipe and child.pipe in self._selector.get_map():
            self._selector.unregister(child.pipe)
        status = child.bury(self._run_dir)
        self.on_change()
        if self._stopping or child.command.once:
            return
        now = time.monotonic()
        child.deaths = [at for at in child.deaths if now - at < DEATHS_WITHIN_SECONDS] + [now]
        if len(child.deaths) >= DEATHS_ALLOWED:
            self.failed = child
            return
        pause = FIRST_PAUSE_SECONDS * 2 ** (len(child.deaths) - 1)
        child.due = now + pause
        self._console.say(f"{child.command.name} {described(status)}; it starts again in {pause:g} s")

    def stop(self) -> bool:
        """Stop all children, stage by stage. A further stop signal kills. True when each ended when asked."""
        self._stopping = True
        self._run_dir.stopping()
        for child in self.children.values():
            child.due = None
        stages = sorted({child.command.stage for child in self.children.values()})
        return all([self._stop_stage(stage) for stage in stages])

    def _stop_stage(self, stage: int) -> bool:
        began, asked, clean = time.monotonic(), self._stops_asked, True
        living = [child for child in self.children.values() if child.command.stage == stage and child.process]
        for child in living:
            if child.process:
                child.process.terminate()
        while living:
            for child in living:
                late = time.monotonic() - began > child.command.grace
                if child.process and (late or self._stops_asked > asked):
                    process.signal_group(child.process.pid, signal.SIGKILL)
                    clean = False
            self.step(0.1)
            living = [child for child in living if child.process]
        return clean


def described(status: int) -> str:
    """How a process ended, in words. Negative: the number of the signal that ended it."""
    if status < 0:
        return f"was ended by {signal.Signals(-status).name}"
    return f"ended with status {status}"
