"""From a person's decision to the next event of the run, while the worker has nothing else to do.

A program waits for the next event (long polling) when another one decides; what is taken is the time from sending the
decision to having the event.
"""

import time
from concurrent.futures import ThreadPoolExecutor

from benchmarks.figure import Figure, Options, at_most
from benchmarks.load import Delays
from benchmarks.site import ECHO, site
from tests.e2e.program import Program
from tests.waiting import until

DECISIONS = 40
WAIT_S = 20
ASKS = '[[call write_file {"path": "a.txt", "content": "words"}]] [[tokens=3 rate=0 ttft=0]]'


def measure(options: Options) -> list[Figure]:
    with site() as place, ThreadPoolExecutor(1) as threads:
        decides, waits = place.program(), place.program()
        for _ in range(3):
            _decided(decides, waits, threads)
        took = [_decided(decides, waits, threads) for _ in range(options.runs or DECISIONS)]
    delays = Delays.of([round(seconds * 1e6) for seconds in took])
    details = f"{len(took)} decisions: p50 {delays.p50:.0f} ms, most {delays.most:.0f} ms"
    return [at_most("B11", delays.p95, "ms (p95)", 150, 60, details)]


def _decided(decides: Program, waits: Program, threads: ThreadPoolExecutor) -> float:
    run = decides.send(decides.converse(ECHO), ASKS)
    until(lambda: decides.pending(run), what="the run asks")
    until(lambda: decides.get(f"/runs/{run}")["status"] == "waiting", what="the run waits")
    (approval,) = decides.pending(run)
    last = decides.events(run)[-1]["number"]
    came = threads.submit(_next_event, waits, run, last)
    time.sleep(0.2)  # until the program waits
    begun = time.monotonic()
    decides.decide(approval, "approve", comment="looked at")
    took = came.result() - begun
    decides.finish(run)
    return took


def _next_event(program: Program, run: str, after: int) -> float:
    """When there was one."""
    assert program.get(f"/runs/{run}/events", after=after, wait=WAIT_S)["items"]
    return time.monotonic()
