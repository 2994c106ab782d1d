"""CPU time and memory of processes, as Linux counts them; and what a figure was measured on."""

import os
import platform
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

_TICKS = os.sysconf("SC_CLK_TCK")
_PROC = Path("/proc")


def tree(pids: Iterable[int]) -> set[int]:
    """The processes and everything that they have started."""
    children = defaultdict(list)
    for folder in _PROC.iterdir():
        if folder.name.isdigit() and (fields := _stat(int(folder.name))):
            children[int(fields[1])].append(int(folder.name))
    found: set[int] = set()
    waiting = list(pids)
    while waiting:
        pid = waiting.pop()
        if pid not in found:
            found.add(pid)
            waiting += children[pid]
    return found


def cpu_seconds(pids: Iterable[int]) -> float:
    """User and system time of the processes and their children, also of those that have ended and were waited for."""
    ticks = 0
    for pid in tree(pids):
        if fields := _stat(pid):
            ticks += sum(int(field) for field in fields[11:15])
    return ticks / _TICKS


def pss_kb(pids: Iterable[int]) -> int:
    """Memory of the processes and their children; what several share is divided among them, so that sums are true."""
    total = 0
    for pid in tree(pids):
        try:
            lines = (_PROC / str(pid) / "smaps_rollup").read_text().splitlines()
        except OSError:
            continue
        total += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
    return total


def description() -> str:
    """Cores, Python and load, for one line above the figures."""
    load = os.getloadavg()[0]
    return f"{os.cpu_count()} cores, {platform.machine()}, Python {platform.python_version()}, load {load:.1f}"


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on; empty when the process is gone."""
    try:
        return (_PROC / str(pid) / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
