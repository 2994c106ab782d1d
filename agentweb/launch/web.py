"""The address of the site: a listening socket that Daphne inherits, and whether the site is ready.

The launcher keeps the socket, so nobody else can take the port, and while Daphne restarts browsers wait in the
queue of the socket where they would have been refused.
"""

import errno
import socket
import time
from collections.abc import Mapping

from agentweb.launch.environment import Environment
from agentweb.launch.refusal import Refusal

BACKLOG = 1024
PORTS_TRIED = 50
_AGAIN_SECONDS = 0.2
_ANSWER_SECONDS = 15.0
LONGEST_REASON = 500
READY_PATH = "/health/ready"


def listen(environment: Environment) -> socket.socket:
    """Listen on the wanted port. An explicit one that is taken is refused; the default moves to the next free one."""
    wanted = environment.port
    last = wanted if environment.port_is_explicit else min(wanted + PORTS_TRIED, 65535)
    for port in range(wanted, last + 1):
        found = _listen_on(environment.host, port)
        if found:
            return found
    if environment.port_is_explicit:
        raise Refusal(f"PORT {wanted} is taken by another program: stop that one, or choose another PORT.")
    raise Refusal(f"The ports {wanted} to {last} are all taken: set PORT to a free one.")


def _listen_on(host: str, port: int) -> socket.socket | None:
    address = "127.0.0.1" if host == "localhost" else host
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((address, port))
        listener.listen(BACKLOG)
    except PermissionError as error:
        listener.close()
        raise Refusal(f"PORT {port} may not be used by this account: ports below 1024 need rights.") from error
    except OSError as error:
        listener.close()
        if not _is_taken(error):
            raise Refusal(f"HOST {host} is no address of this machine: {error.strerror}.") from error
        return None
    return listener


def _is_taken(error: OSError) -> bool:
    return error.errno == errno.EADDRINUSE


def url(environment: Environment, port: int) -> str:
    """Where a person finds the site from this machine."""
    host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(environment.host, environment.host)
    return f"http://[{host}]:{port}/" if ":" in host and "[" not in host else f"http://{host}:{port}/"


class ReadinessProbe:
    """Asks the site whether it is ready, without ever waiting: call it again and again."""

    def __init__(self, listener: socket.socket, values: Mapping[str, str]) -> None:
        self.missing = "the web process does not answer"
        self._family, self._address = listener.family, _reachable(listener.getsockname())
        self._host = accepted_host(values)
        self._connection: socket.socket | None = None
        self._answer = b""
        self._next = self._deadline = 0.0

    def __call__(self) -> bool:
        now = time.monotonic()
        if self._connection is None:
            if now >= self._next:
                self._ask(now)
            return False
        try:
            piece = self._connection.recv(65_536)
        except BlockingIOError:
            if now > self._deadline:
                self._hang_up(now)
            return False
        except OSError:
            self._hang_up(now)
            return False
        self._answer += piece
        return not piece and self._understand(now)

    def _ask(self, now: float) -> None:
        self._answer, self._deadline = b"", now + _ANSWER_SECONDS
        self._connection = socket.socket(self._family, socket.SOCK_STREAM)
        try:
            self._connection.connect(self._address)
            self._connection.sendall(
                f"GET {READY_PATH} HTTP/1.1\r\nHost: {self._host}\r\nX-Forwarded-Proto: https\r\n"
                "Connection: close\r\n\r\n".encode()
            )
            self._connection.setblocking(False)
        except OSError:
            self._hang_up(now)

    def _understand(self, now: float) -> bool:
        self._hang_up(now)
        head, _, body = self._answer.partition(b"\r\n\r\n")
        first_line = head.partition(b"\r\n")[0]
        if head:
            said = body[body.find(b"{") : body.rfind(b"}") + 1] if b"json" in head else first_line
            self.missing = said.decode("utf-8", "replace")[:LONGEST_REASON]
        return first_line.split(b" ")[1:2] == [b"200"]

    def _hang_up(self, now: float) -> None:
        if self._connection:
            self._connection.close()
        self._connection, self._next = None, now + _AGAIN_SECONDS


def _reachable(name: tuple[str, int]) -> tuple[str, int]:
    """The address to connect to for a socket that may listen on all addresses."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(name[0], name[0]), name[1]


def accepted_host(values: Mapping[str, str]) -> str:
    """A Host header that the site accepts: the first of ALLOWED_HOSTS that is a whole name."""
    names = [name.strip() for name in values.get("ALLOWED_HOSTS", "").split(",")]
    return next((name.lstrip(".") for name in names if name not in ("", "*")), "localhost")
