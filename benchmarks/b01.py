"""CPU of worker, Valkey and web process for each token that reaches a socket, over that of the plain SDK loop.

100 runs of 25 tokens a second, each watched by one page. The SDK loop (R1) reads the same load from the same server in
a process of its own. Both count from before the first token to behind the last end.
"""

from benchmarks.compared import SLOTS, compared, warm_up
from benchmarks.figure import Figure, Options, at_most
from benchmarks.load import Load
from benchmarks.repeating import Repetition, repeat
from benchmarks.site import Site, site
from benchmarks.streams import stream

LOAD = Load(runs=100, rate=25, seconds=16)


def measure(options: Options) -> list[Figure]:
    load = LOAD.within(options)
    with site(WORKER_SLOTS=SLOTS) as running:
        warm_up(running)
        print(f"  {load}, each watched")
        found = repeat(options, lambda: once(running, load))
    details = found.summary("ratio", "worker µs", "web µs", "Valkey µs", "R1 µs")
    return [at_most("B1", found.median("ratio"), "times R1's CPU", 0.8, 0.45, details)]


def once(running: Site, load: Load) -> Repetition:
    reference = compared(running, load)
    got = stream(running, load, watched=True)
    values = {
        "ratio": got.us_per_token(got.spent.total) / reference.sdk.cpu_us,
        "worker µs": got.us_per_token(got.spent.worker),
        "web µs": got.us_per_token(got.spent.web),
        "Valkey µs": got.us_per_token(got.spent.valkey),
        "R1 µs": reference.sdk.cpu_us,
        "R0 µs": reference.raw.cpu_us,
    }
    return Repetition(values, reference.noise_with(got.late_ms))
