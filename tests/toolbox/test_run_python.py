"""Code in the interpreter that has nothing: it computes, and whatever it tries beyond that is refused in words."""

import os
from pathlib import Path
from typing import Any

import pytest

from agentweb.engine.ports import ToolError
from agentweb.toolbox.run_python import NOTHING, evaluate, run_python
from tests.toolbox.calling import context_in, run


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("1 + 1", "2"),
        ("print('a'); print('b')\n[n * n for n in range(3)]", "a\nb\n[0, 1, 4]"),
        ("import json, re, math\njson.dumps({'a': math.floor(2.5)})", "'{\"a\": 2}'"),
        ("x = 1", NOTHING),
        ("import time; time.sleep(1000)", NOTHING),
    ],
)
def test_what_the_code_prints_and_its_last_value_are_told(code: str, told: str) -> None:
    assert evaluate(code) == told


@pytest.mark.parametrize(
    ("code", "why"),
    [
        ("open('/etc/passwd').read()", "PermissionError: Permission denied: '/etc/passwd'"),
        ("open('new', 'w')", "PermissionError"),
        ("from pathlib import Path; Path('/etc/passwd').read_text()", "PermissionError"),
        ("import os; os.listdir('/')", "PermissionError"),
        ("import os; os.environ['CANARY']", "'os.environ' is not supported"),
        ("import os; os.getenv('CANARY')", "'os.getenv' is not supported"),
        ("import socket", "No module named 'socket'"),
        ("import subprocess", "No module named 'subprocess'"),
        ("import ctypes", "No module named 'ctypes'"),
        ("import os; os.fork()", "no attribute 'fork'"),
        ("import os; os.kill(1, 9)", "no attribute 'kill'"),
        ("import signal", "No module named 'signal'"),
        ("__import__('os').system('id')", "'__import__' is not defined"),
        ("().__class__.__bases__[0].__subclasses__()", "no attribute '__class__'"),
        ("while True: pass", "The code ran for longer than 0.2 s and was stopped."),
        ("rows = []\nwhile True: rows.append('x' * 100_000)", "more than 100 MB of memory"),
        ("2 ** 10 ** 8", "more than 100 MB of memory"),
        ("def f(): f()\nf()", "RecursionError"),
        ("print('x' * 300_000)", "The code printed more than 200 kB"),
        ("print('before')\n1 / 0", "before\nTraceback"),
        ("1 +", "SyntaxError"),
        ("raise TimeoutError('my own limit')", "TimeoutError: my own limit"),
        ("raise MemoryError('print')", "MemoryError: print"),
        ("raise SystemExit(3)", "exceptions"),
    ],
)
def test_what_reaches_out_or_takes_too_much_is_refused(monkeypatch: pytest.MonkeyPatch, code: str, why: str) -> None:
    monkeypatch.setenv("CANARY", "canary-value")
    with pytest.raises(ToolError) as failed:
        evaluate(code, 0.2 if "while True: pass" in code else 30)
    assert why in str(failed.value)
    assert "canary-value" not in str(failed.value)


def test_each_call_has_a_process_of_its_own_and_begins_anew(tmp_path: Path) -> None:
    before = dict(os.environ)
    assert run(run_python, {"code": "x = 2\nx"}, context_in(tmp_path)) == "2"
    assert os.environ == before
    with pytest.raises(ToolError, match="'x' is not defined"):
        evaluate("x")


@pytest.mark.parametrize("arguments", [{}, {"code": ""}, {"code": " \n"}, {"code": 1}, {"code": "x" * 100_001}])
def test_nothing_is_run_without_code(arguments: dict[str, Any]) -> None:
    (found,) = run_python.problems(arguments)
    assert found.startswith("code: ")
