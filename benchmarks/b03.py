"""How much later than with a raw reader a token reaches a socket, median and p95.

50 runs of 25 tokens a second, each watched by one page. The raw reader (R0) reads the same load from the same server.
Words are gathered for a moment, the window, before they are sent; what must hold allows for it.
"""

from benchmarks.compared import SLOTS, compared, warm_up
from benchmarks.figure import Figure, Options, at_most
from benchmarks.load import Load
from benchmarks.repeating import Repetition, repeat
from benchmarks.site import Site, site
from benchmarks.streams import stream

LOAD = Load(runs=50, rate=25, seconds=16)
WINDOW_MS = 80
"""FLUSH_SECONDS as delivered."""


def measure(options: Options) -> list[Figure]:
    load = LOAD.within(options)
    with site(WORKER_SLOTS=SLOTS, FLUSH_SECONDS=str(WINDOW_MS / 1000)) as running:
        warm_up(running)
        print(f"  {load}, each watched, window {WINDOW_MS} ms")
        found = repeat(options, lambda: once(running, load))
    details = found.summary("p50 added", "p95 added", "R0 p50", "R0 p95", "most")
    return [
        at_most("B3 p50", found.median("p50 added"), "ms", WINDOW_MS / 2 + 15, details=details),
        at_most("B3 p95", found.median("p95 added"), "ms", WINDOW_MS + 25),
    ]


def once(running: Site, load: Load) -> Repetition:
    reference = compared(running, load)
    got = stream(running, load, watched=True)
    assert got.watched is not None
    raw, ours = reference.raw.delays, got.watched.delays
    values = {
        "p50 added": ours.p50 - raw.p50,
        "p95 added": ours.p95 - raw.p95,
        "R0 p50": raw.p50,
        "R0 p95": raw.p95,
        "R1 p95": reference.sdk.delays.p95,
        "most": ours.most,
    }
    return Repetition(values, reference.noise_with(got.late_ms))
