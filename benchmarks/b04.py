"""Time until the last of many runs that begin at once has ended, over the time that their streams take.

50 runs of 25 tokens a second, 200 of 10, 500 of 5, each watched by one page and started by a message that is posted
together with all others. Counted from the first message to the last end that a page sees.
"""

import random
import time

from benchmarks.compared import SLOTS, warm_up
from benchmarks.figure import Figure, Options, at_most
from benchmarks.load import SPREAD_S, Load
from benchmarks.repeating import Repetition, noise, repeat
from benchmarks.site import Site, site
from benchmarks.streams import converse, patience_s, start
from benchmarks.watchers import watching

LOADS = ((Load(50, 25, 30), 1.15), (Load(200, 10, 30), 1.25), (Load(500, 5, 30), 1.6))
AT_ONCE = 50  # requests of the program that posts, which is not to be what limits


def measure(options: Options) -> list[Figure]:
    return [figure(load.within(options), limit, options) for load, limit in LOADS]


def figure(load: Load, limit: float, options: Options) -> Figure:
    with site(WORKER_SLOTS=SLOTS) as running:
        warm_up(running)
        print(f"  {load}, each watched, all posted at once")
        found = repeat(options, lambda: once(running, load))
    details = f"  {load}\n{found.summary('ratio', 'posted s', 'seconds', 'token p95 ms')}"
    return at_most(f"B4 {load.runs}", found.median("ratio"), "times the streams' time", limit, details=details)


def once(running: Site, load: Load) -> Repetition:
    """Each stream waits a random moment before its first token, so that they do not share the token period."""
    waits = [random.random() * SPREAD_S for _ in range(load.runs)]
    conversations = converse(running, load.runs)
    running.reset_model()
    with watching(running.stack.url, running.session(), conversations) as sockets:
        begun = time.time()
        start(running, conversations, [load.message_after(wait) for wait in waits], AT_ONCE)
        posted = time.time()
        saw = sockets.result(patience_s(load))
    ended = [moment for moment in saw.ended if moment is not None]
    assert len(ended) == load.runs, f"{load.runs - len(ended)} ends were not seen"
    seconds = max(ended) - begun
    values = {
        "ratio": seconds / (max(waits) + load.tokens / load.rate),
        "posted s": posted - begun,
        "seconds": seconds,
        "token p95 ms": saw.delays.p95,
    }
    return Repetition(values, noise(running.model_stats()["late_max_ms"]))
