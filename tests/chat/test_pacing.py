"""A reader that does not read makes a real Daphne wait, and not grow: over a socket and in an answer."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from socket import create_connection

import httpx2
import pytest
from websockets.sync.client import connect

from agentweb.launch.valkey import free_port
from tests.chat.flooding import FRAME
from tests.waiting import until

ROOT = Path(__file__).resolve().parents[2]
STANDSTILL_S = 0.5
MOST_BYTES = 32 * 1024 * 1024  # what two kernels and a client take in may be some megabytes


@pytest.fixture(scope="module")
def daphne() -> Iterator[str]:
    port = free_port()
    command = [sys.executable, "-m", "daphne", "-v", "0", "-b", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen([*command, "tests.chat.flooding:application"], cwd=ROOT)
    try:
        until(lambda: _sent(f"127.0.0.1:{port}") is not None, what="Daphne answers")
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def _sent(address: str, path: str = "") -> int | None:
    try:
        return int(httpx2.get(f"http://{address}/{path}", trust_env=False).text)
    except httpx2.TransportError:
        return None


def _stands_still(address: str, path: str) -> int:
    """What was sent, once that does not grow any more."""
    seen: list[tuple[float, int]] = [(time.monotonic(), 0)]

    def still() -> bool:
        sent, now = _sent(address, path) or 0, time.monotonic()
        if sent != seen[-1][1]:
            seen.append((now, sent))
        return sent > 0 and now - seen[-1][0] > STANDSTILL_S

    until(still, what="nothing more is sent")
    return seen[-1][1]


@contextmanager
def socket(address: str) -> Iterator[Iterator[int]]:
    with connect(f"ws://{address}/flood/socket", max_queue=4, close_timeout=0.1) as page:
        yield (len(page.recv(timeout=10)) for _ in count())


@contextmanager
def answer(address: str) -> Iterator[Iterator[int]]:
    with httpx2.stream("GET", f"http://{address}/flood/answer", trust_env=False, timeout=10) as response:
        yield (len(part) for part in response.iter_raw())


@pytest.mark.parametrize("read", [socket, answer])
def test_a_reader_that_stops_stops_the_writer_and_one_that_goes_on_sets_it_going(daphne, read):
    path = read.__name__
    with read(daphne) as parts:
        stopped_at = _stands_still(daphne, path)
        assert stopped_at < MOST_BYTES
        taken = 0
        while taken < stopped_at + 1_000_000:
            taken += next(parts)
        assert _stands_still(daphne, path) > stopped_at


def test_a_reader_that_has_gone_before_the_first_part_disturbs_nobody(daphne):
    host, _colon, port = daphne.partition(":")
    with create_connection((host, int(port))) as reader:
        reader.sendall(f"GET /flood/late HTTP/1.1\r\nHost: {daphne}\r\n\r\n".encode())
        until(lambda: _sent(daphne, "late/asked"), what="it has been asked")
    until(lambda: _sent(daphne, "late") == len(FRAME), what="the part has gone nowhere")
