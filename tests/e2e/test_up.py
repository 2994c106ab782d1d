"""`manage.py up`, from an empty folder through accidents to a clean end."""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx2
import pytest

from agentweb.launch.process import identify, is_running, marked
from agentweb.launch.rundir import MARK
from agentweb.launch.runtime import Runtime
from agentweb.launch.valkey import free_port
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]
READY_SECONDS = 90.0


class Site:
    """One start of the command, its output, and what it says is up."""

    def __init__(self, folder: Path, database_url: str, *arguments: str) -> None:
        self.data_dir, self.port = folder / "data", free_port()
        self._output = open(folder / f"up-{self.port}.txt", "wb")  # noqa: SIM115
        env = {"PATH": os.environ["PATH"], "DATA_DIR": str(self.data_dir), "DATABASE_URL": database_url}
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "up", "--port", str(self.port), *arguments],
            cwd=ROOT,
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
        )

    def output(self) -> str:
        return Path(self._output.name).read_text(errors="replace")

    def says(self, text: str, seconds: float = READY_SECONDS) -> str:
        until(lambda: text in self.output() or self.process.poll() is not None, seconds, f"{text!r} in {self.output()}")
        assert text in self.output()
        return self.output()

    def pids(self) -> dict[str, int]:
        runtime = Runtime.read(self.data_dir)
        assert runtime is not None
        return dict(runtime.pids)

    def is_ready(self) -> bool:
        return httpx2.get(f"http://127.0.0.1:{self.port}/health/ready", timeout=60, trust_env=False).status_code == 200

    def nothing_is_left(self) -> bool:
        return list(marked(MARK, str(self.data_dir / "run" / "up"))) == []


@pytest.fixture
def up(tmp_path: Path, own_database_url: str) -> Iterator[Callable[..., Site]]:
    """Starts the command, always on the same folder."""
    sites: list[Site] = []

    def start(*arguments: str) -> Site:
        sites.append(Site(tmp_path, own_database_url, *arguments))
        return sites[-1]

    yield start
    for site in sites:
        site.process.terminate()
        site.process.wait(60)


def test_a_site_comes_up_survives_accidents_and_ends_clean(up):
    site = up("--workers", "1")
    first_words = site.says("Ctrl-C stops everything.")
    assert f"agentweb is ready: http://127.0.0.1:{site.port}/" in first_words
    assert re.findall(r"^ +(\w+) +\S{12} ", first_words, re.MULTILINE) == ["admin", "ann", "ben", "rita"]
    assert site.is_ready()

    # A process that dies is replaced, and the site goes on.
    before = site.pids()
    assert set(before) == {"valkey", "worker-1", "web"}
    os.kill(before["web"], signal.SIGKILL)
    until(lambda: site.pids().get("web") not in (None, before["web"]), what="another web process")
    assert site.is_ready()

    # The launcher is killed hard: the next start ends what it left, and has the same data.
    left = [identify(pid) for pid in site.pids().values()]
    site.process.kill()
    site.process.wait()
    again = up()
    words = again.says("Ctrl-C stops everything.")
    assert not any(who and is_running(who) for who in left)
    assert "ann" not in words  # passwords are shown once
    assert again.is_ready()

    # Somebody else wants to start on the same data.
    second = up()
    assert second.process.wait(60) == 1
    assert f"Process {again.process.pid} already runs agentweb on {again.data_dir}" in second.output()

    children = [identify(pid) for pid in again.pids().values()]
    again.process.send_signal(signal.SIGINT)
    assert again.process.wait(60) == 0
    assert not any(who and is_running(who) for who in children)
    assert again.nothing_is_left()
    assert Runtime.read(again.data_dir) is None
