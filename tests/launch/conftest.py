"""A small launcher in a process of its own, as each test wants it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from agentweb.launch.process import Identity, is_running
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]


class Launcher:
    """The process, its output so far, and the children that it has on record."""

    def __init__(self, folder: Path, children: tuple[str, ...]) -> None:
        self.folder = folder
        self._output = open(folder / f"launcher-{len(list(folder.glob('launcher-*')))}.txt", "w+")  # noqa: SIM115
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.launch.small_launcher", str(folder), *children],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdout=self._output,
            stderr=subprocess.STDOUT,
        )

    def output(self) -> str:
        return Path(self._output.name).read_text()

    def child(self, name: str) -> Identity | None:
        """Who runs under this name now."""
        try:
            who = Identity(**json.loads((self.folder / "run" / "up" / f"{name}.process").read_text()))
        except (OSError, ValueError):
            return None
        return who if is_running(who) else None

    def running(self, name: str) -> Identity:
        """Who runs under this name, as soon as somebody does."""
        return until(lambda: self.child(name), what=f"{name} runs")

    def says(self, text: str) -> str:
        until(lambda: text in self.output(), what=f"the launcher says {text!r}: {self.output()}")
        return self.output()

    def ends(self, seconds: float = 20.0) -> int:
        return self.process.wait(seconds)


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Callable[..., Launcher]]:
    """Starts launchers on one folder; what still runs at the end of the test is ended."""
    started: list[Launcher] = []

    def start(*children: str) -> Launcher:
        started.append(Launcher(tmp_path, children))
        return started[-1]

    yield start
    for launcher in started:
        launcher.process.terminate()
        launcher.process.wait(20)
