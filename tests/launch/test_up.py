"""`manage.py up` as a person meets it before anything runs."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def up(data_dir: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess:
    """Run the command to its end in an environment without settings of ours."""
    env = {"PATH": os.environ["PATH"], "DATA_DIR": str(data_dir), **variables}
    command = [sys.executable, str(ROOT / "manage.py"), "up", *arguments]
    return subprocess.run(command, env=env, cwd=data_dir, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("arguments", "variables", "names"),
    [
        ((), {"PORT": "eight"}, "PORT must be a whole number"),
        (("--port", "99999"), {}, "PORT must be a whole number"),
        (("--workers", "0"), {}, "WORKERS must be a whole number"),
        ((), {"REDIS_URL": "nonsense"}, "REDIS_URL must look like"),
        ((), {"DATA_DIR": "/dev/null/data"}, "DATA_DIR (/dev/null/data) cannot be used"),
    ],
)
def test_a_wrong_setting_is_named_in_one_line_and_the_status_is_2(tmp_path: Path, arguments, variables, names):
    ended = up(tmp_path, *arguments, **variables)
    assert ended.returncode == 2
    assert ended.stderr.startswith(f"agentweb: {names}")
    assert ended.stderr.count("\n") == 1
    assert ended.stdout == ""


def test_a_taken_port_is_said_before_anything_starts(tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as other:
        ended = up(tmp_path, PORT=str(other.getsockname()[1]))
    assert ended.returncode == 1
    assert "is taken by another program" in ended.stderr
    assert not (tmp_path / "valkey").exists()


@pytest.mark.parametrize(
    ("variable", "address"),
    [("REDIS_URL", "redis://:hunter2@127.0.0.1:1/0"), ("DATABASE_URL", "postgres://me:hunter2@127.0.0.1:1/name")],
)
def test_a_server_that_does_not_answer_is_named_by_its_variable(tmp_path: Path, variable, address):
    ended = up(tmp_path, **{variable: address})
    assert ended.returncode == 1
    assert f"{variable}: nothing answers at 127.0.0.1:1." in ended.stderr
    assert "hunter2" not in ended.stderr + ended.stdout


def test_starting_loads_neither_django_nor_an_event_loop():
    code = (
        "import sys; from agentweb.launch import up, services;"
        "print(sorted({'django', 'asyncio', 'celery', 'redis', 'ssl'} & set(sys.modules)))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "[]"


def test_an_interpreter_without_the_packages_is_told_what_to_do(tmp_path: Path):
    for arguments, sentence in ((["up"], "start with `make up`"), (["check"], "Run `make up` once")):
        command = [sys.executable, "-S", "-E", str(ROOT / "manage.py"), *arguments]
        ended = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ended.returncode != 0
        assert sentence in ended.stderr
        assert "Traceback" not in ended.stderr
