"""Programs that measure beside the product, each in a process of its own so that its CPU is told apart.

They take one line of JSON, and answer with lines of JSON.
"""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

END_S = 10.0


class Child:
    """A running `python -m MODULE`."""

    def __init__(self, module: str, process: subprocess.Popen[str]) -> None:
        self._module = module
        self._process = process

    def say(self, value: Any) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(value) + "\n")
        self._process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        """The next line. RuntimeError when the program ended instead; what it complained of is on our error output."""
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self._module} ended with {self._process.wait()}")
        return dict(json.loads(line))


@contextmanager
def child(module: str, *arguments: str) -> Iterator[Child]:
    """Started here and ended behind the block."""
    command = [sys.executable, "-m", module, *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield Child(module, process)
    finally:
        assert process.stdin is not None
        process.stdin.close()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        assert process.stdout is not None
        process.stdout.close()


def answer(value: dict[str, Any]) -> None:
    """Called by the program itself."""
    print(json.dumps(value), flush=True)
