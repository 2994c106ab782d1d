"""Cold start to the first page, memory of all processes when idle, and what is installed.

`manage.py up` on a new data folder: to the first page counts from its start to the first answer of the login page, the
preparation of the database and the demo team included. Memory is PSS, a while after that, of the launcher and
all that it started. Installed is what the requirements (with PostgreSQL's driver) and the product take on the disk.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from importlib import metadata
from pathlib import Path

import httpx2
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from benchmarks import machine
from benchmarks.figure import Figure, Options, at_most
from tests.stack import ROOT, free_port
from tests.waiting import until

IDLE_S = 20.0
STARTED_S = 120.0
END_S = 30.0
EXTRA = "postgres"


def measure(options: Options) -> list[Figure]:
    starts = [_start(options.seconds or IDLE_S) for _ in range(options.repetitions)]
    took, memory = (sorted(each)[len(each) // 2] for each in zip(*starts, strict=True))
    return [
        at_most("B21 start", took, "s to the first page", 8),
        at_most("B21 memory", memory, "MB idle (PSS)", 450),
        at_most("B21 installed", _installed_bytes() / 1e6, "MB", 350),
    ]


def _start(idle_s: float) -> tuple[float, float]:
    """Seconds to the first page, megabytes when idle."""
    with tempfile.TemporaryDirectory(prefix="agentweb-bench-") as folder:
        port = free_port()
        names = ("OPENAI_", "DJANGO_", "AGENTWEB_", "DATABASE_URL", "REDIS_URL")
        env = {name: value for name, value in os.environ.items() if not name.startswith(names)}
        env |= {"DATA_DIR": folder, "PORT": str(port)}
        begun = time.monotonic()
        command = [sys.executable, str(ROOT / "manage.py"), "up"]
        up = subprocess.Popen(command, env=env, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            until(lambda: _answers(f"http://127.0.0.1:{port}/accounts/login/"), STARTED_S, "the first page")
            took = time.monotonic() - begun
            time.sleep(idle_s)
            memory = machine.pss_kb([up.pid]) / 1000
        finally:
            up.terminate()
            up.wait(END_S)
    print(f"first page after {took:.1f} s, {memory:.0f} MB when idle", flush=True)
    return took, memory


def _answers(address: str) -> bool:
    try:
        return httpx2.get(address, timeout=20, trust_env=False).status_code == 200
    except httpx2.TransportError:
        return False


def _installed_bytes() -> int:
    """What the product and everything that it requires have on the disk."""
    found, waiting = set(), [("agentweb", EXTRA)]
    total = sum(
        path.stat().st_size for name in ("agentweb", "static", "templates") for path in (ROOT / name).rglob("*")
    )
    while waiting:
        name, extra = waiting.pop()
        if (canonicalize_name(name), extra) in found:
            continue
        found.add((canonicalize_name(name), extra))
        for text in _requires(name):
            wanted = Requirement(text)
            if wanted.marker is None or wanted.marker.evaluate({"extra": extra}):
                waiting += [(wanted.name, each) for each in (wanted.extras or {""})]
    for name in {name for name, _extra in found} - {"agentweb"}:
        paths = {Path(str(file.locate())) for file in _files(name)}
        total += sum(path.stat().st_size for path in paths if path.is_file())
    return total


def _requires(name: str) -> Sequence[str]:
    """Nothing for what is not installed, such as what another system would need."""
    try:
        return metadata.requires(name) or ()
    except metadata.PackageNotFoundError:
        return ()


def _files(name: str) -> Sequence[metadata.PackagePath]:
    try:
        return metadata.files(name) or ()
    except metadata.PackageNotFoundError:
        return ()
