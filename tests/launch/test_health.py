"""The question that a container's health check asks."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from agentweb.launch import health
from agentweb.launch.valkey import free_port


class Site(BaseHTTPRequestHandler):
    """Lives, is not ready, and knows one name."""

    def do_GET(self) -> None:
        known = self.headers["Host"] == "chat.example.org"
        status = 400 if not known else {"/health/live": 200, "/health/ready": 503}.get(self.path, 404)
        self.send_response(status)
        self.end_headers()
        self.wfile.write(self.path.encode())

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def port() -> Iterator[int]:
    server = HTTPServer(("127.0.0.1", 0), Site)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield server.server_port
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize(
    ("arguments", "hosts", "status"),
    [
        ([], "chat.example.org", 0),
        (["live"], "chat.example.org,other.example", 0),
        (["live"], "*,chat.example.org", 0),
        (["live"], ".chat.example.org", 0),
        (["live"], "other.example", 1),
        (["ready"], "chat.example.org", 1),
        (["other"], "chat.example.org", 2),
        (["live", "ready"], "chat.example.org", 2),
    ],
)
def test_the_exit_status_says_how_the_site_is(port, arguments, hosts, status):
    assert health.main(arguments, {"PORT": str(port), "ALLOWED_HOSTS": hosts}) == status


def test_no_answer_is_not_well_and_says_why(capsys):
    assert health.main(["live"], {"PORT": str(free_port())}) == 1
    assert "no answer" in capsys.readouterr().out
