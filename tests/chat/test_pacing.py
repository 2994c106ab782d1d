"""A page that does not read makes the site wait, and not grow: under a real Daphne, with a page that stops reading."""

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from websockets.sync.client import connect

from agentweb.launch.valkey import free_port
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


def _sent(address: str) -> int | None:
    try:
        return int(httpx2.get(f"http://{address}/", trust_env=False).text)
    except httpx2.TransportError:
        return None


def _stands_still(address: str) -> int:
    """What was sent, once that does not grow any more."""
    seen: list[tuple[float, int]] = [(time.monotonic(), 0)]

    def still() -> bool:
        sent, now = _sent(address) or 0, time.monotonic()
        if sent != seen[-1][1]:
            seen.append((now, sent))
        return sent > 0 and now - seen[-1][0] > STANDSTILL_S

    until(still, what="nothing more is sent")
    return seen[-1][1]


def test_a_reader_that_stops_stops_the_writer_and_one_that_goes_on_sets_it_going(daphne):
    with connect(f"ws://{daphne}/", max_queue=4) as page:
        stopped_at = _stands_still(daphne)
        assert stopped_at < MOST_BYTES
        read = 0
        while read < stopped_at + 1_000_000:
            read += len(page.recv(timeout=10))
        assert _stands_still(daphne) > stopped_at
