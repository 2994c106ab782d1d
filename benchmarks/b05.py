"""Memory of all processes for each run more, from 50 streaming runs to 500.

5 tokens a second each, nobody watching: PSS of worker, web process and Valkey in the middle of the streams. What each
page that watches costs beside that is memory of the web process for a socket, and is printed too.
"""

import time
from collections.abc import Sequence
from dataclasses import replace

from benchmarks import machine
from benchmarks.compared import SLOTS, warm_up
from benchmarks.figure import Figure, Options, at_most
from benchmarks.load import SPREAD_S, Load
from benchmarks.repeating import Repetition, repeat
from benchmarks.site import Site, site
from benchmarks.streams import converse, open_streams, release, wait_for_ends
from benchmarks.watchers import watching

FEW = 50
MANY = Load(runs=500, rate=5, seconds=12)
PARTS = ("worker", "web", "Valkey")


def measure(options: Options) -> list[Figure]:
    load = MANY.within(options)
    print(f"  {load}, after {FEW} of them")
    found = repeat(options, lambda: once(load))
    details = found.summary("KB", *(f"{part} KB" for part in PARTS), "socket KB")
    return [at_most("B5", found.median("KB"), "KB for each run more", 200, 80, details)]


def once(load: Load) -> Repetition:
    """On a new site each time: memory that a process has taken once is not taken anew."""
    with site(WORKER_SLOTS=SLOTS) as running:
        warm_up(running)
        conversations = converse(running, load.runs)
        few = in_the_middle(running, replace(load, runs=FEW), conversations[:FEW])
        many = in_the_middle(running, load, conversations)
        web = machine.pss_kb([running.stack.pid("web")])
        with watching(running.stack.url, running.session(), conversations):
            socket = (machine.pss_kb([running.stack.pid("web")]) - web) / load.runs
    more = [(after - before) / (load.runs - FEW) for before, after in zip(few, many, strict=True)]
    parts = {f"{part} KB": each for part, each in zip(PARTS, more, strict=True)}
    return Repetition({"KB": sum(more), **parts, "socket KB": socket})


def in_the_middle(running: Site, load: Load, conversations: Sequence[str]) -> list[int]:
    """KB of each part of the product while all runs stream; their end is waited for."""
    keys, runs = open_streams(running, load, conversations)
    release(running, keys, load.begins(time.time()))
    time.sleep((load.seconds + SPREAD_S) / 2)
    parts = (running.worker_pids, [running.stack.pid("web")], [running.stack.pid("valkey")])
    sizes = [machine.pss_kb(pids) for pids in parts]
    assert running.model_stats()["open"] == load.runs, "the streams ended too early to be measured"
    wait_for_ends(running, load, runs)
    return sizes
