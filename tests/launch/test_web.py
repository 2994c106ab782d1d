"""The port of the site, and the question whether it is ready."""

import socket
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from agentweb.launch import environment, web
from agentweb.launch.refusal import Refusal
from agentweb.launch.valkey import free_port
from tests.waiting import until


@pytest.fixture
def taken() -> Iterator[int]:
    """A port on which somebody else listens."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


def test_an_explicit_port_that_is_taken_is_refused(tmp_path: Path, taken: int):
    with pytest.raises(Refusal, match=f"PORT {taken} is taken"):
        web.listen(environment.load({"PORT": str(taken)}, tmp_path))


def test_the_default_port_moves_to_the_next_free_one(tmp_path: Path, taken: int):
    settings = replace(environment.load({}, tmp_path), port=taken)
    with web.listen(settings) as listener:
        assert taken < listener.getsockname()[1] <= taken + web.PORTS_TRIED


def test_an_address_of_another_machine_is_refused_by_name(tmp_path: Path):
    with pytest.raises(Refusal, match=r"HOST 192\.0\.2\.1 is no address of this machine"):
        web.listen(environment.load({"HOST": "192.0.2.1", "PORT": str(free_port())}, tmp_path))


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("127.0.0.1", "http://127.0.0.1:8000/"),
        ("localhost", "http://localhost:8000/"),
        ("0.0.0.0", "http://127.0.0.1:8000/"),
        ("::", "http://[::1]:8000/"),
        ("::1", "http://[::1]:8000/"),
        ("10.0.0.7", "http://10.0.0.7:8000/"),
    ],
)
def test_the_address_for_a_person_can_be_opened_on_this_machine(tmp_path: Path, host, address):
    assert web.url(environment.load({"HOST": host}, tmp_path), 8000) == address


class Site(threading.Thread):
    """Answers one request after the other with the prepared answers, and keeps what it was asked."""

    def __init__(self, listener: socket.socket, answers: list[bytes]) -> None:
        super().__init__(daemon=True)
        self.listener, self.answers, self.asked = listener, answers, []

    def run(self) -> None:
        for answer in self.answers:
            connection, _ = self.listener.accept()
            with connection:
                self.asked.append(connection.recv(4096))
                connection.sendall(answer)


def test_the_site_is_ready_when_it_says_200_and_until_then_it_tells_what_is_missing(tmp_path: Path):
    answers = [
        b"",
        b"HTTP/1.1 500 Internal Server Error\r\nContent-Type: text/html\r\n\r\n<html>{}</html>",
        b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\n\r\n"
        b'17\r\n{"missing": ["worker"]}\r\n0\r\n\r\n',
        b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
    ]
    with web.listen(environment.load({"PORT": str(free_port())}, tmp_path)) as listener:
        probe = web.ReadinessProbe(listener, {"ALLOWED_HOSTS": "*,.chat.example"})
        assert not probe()
        assert probe.missing == "the web process does not answer"
        site = Site(listener, answers)
        site.start()
        assert until(lambda: not probe() and probe.missing == "HTTP/1.1 500 Internal Server Error")
        assert until(lambda: not probe() and probe.missing == '{"missing": ["worker"]}')
        assert until(probe)
    site.join(60)
    assert b"GET /health/ready HTTP/1.1\r\nHost: chat.example\r\n" in site.asked[0]
