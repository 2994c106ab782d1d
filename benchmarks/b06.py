"""Tokens lost, doubled or in disorder on 50 pages, each cut off 20 times at random, Redis connections killed twice.

The pages come back at once with their cursor, as the scripts of a real one do. Looked at is what stands on each page
after every frame, and what its message holds in the end.
"""

import time
from collections import Counter
from dataclasses import replace

import redis

from benchmarks.child import child
from benchmarks.compared import SLOTS
from benchmarks.figure import Figure, Options, exactly
from benchmarks.load import Load
from benchmarks.site import Site, site
from benchmarks.streams import converse, open_streams, patience_s, release

LOAD = Load(runs=50, rate=25, seconds=60)
CUTS = 20
KILLS = 2
WRONG = ("lost", "doubled", "disordered")


def measure(options: Options) -> list[Figure]:
    load = LOAD.within(options)
    print(f"  {load}, {CUTS} cuts each")
    with site(WORKER_SLOTS=SLOTS) as place:
        found = [_once(place, load) for _ in range(options.repetitions)]
    total = sum(found, Counter())
    details = f"  {total['cuts']:,} cuts, {total['holes']} times something was missing and asked for again"
    figures = [exactly(f"B6 {name}", total[name], f"tokens {name}", 0) for name in WRONG]
    figures[0] = replace(figures[0], details=details)
    return [exactly("B6 ended", load.runs * len(found) - total["ended"], "pages that saw no end", 0), *figures]


def _once(place: Site, load: Load) -> Counter[str]:
    conversations, session = converse(place, load.runs), place.session()
    with child("benchmarks.pages") as pages:
        pages.say({"url": place.stack.url, "session": session, "conversations": conversations})
        assert pages.hear() == {"opened": load.runs}
        keys, _runs = open_streams(place, load, conversations)
        place.reset_model()
        asked = {"cuts": CUTS, "within_s": load.seconds, "tokens": load.tokens, "patience_s": patience_s(load)}
        pages.say(asked)
        release(place, keys, load.begins(time.time()))
        for _ in range(KILLS):
            time.sleep(load.seconds / (KILLS + 1))
            _kill_connections(place)
        told = sum((Counter(page) for page in pages.hear()["pages"]), Counter())
    shown = 100 * told["live"] / (load.runs * load.tokens)
    print(f"  {dict(told)}: {shown:.1f} % of the words came over the sockets, the rest with the card", flush=True)
    return told


def _kill_connections(place: Site) -> None:
    """All that the product has to Redis: those that listen and those that ask."""
    with redis.Redis.from_url(place.stack.redis_url) as server:
        for kind in ("pubsub", "normal"):
            server.client_kill_filter(_type=kind, skipme=True)
