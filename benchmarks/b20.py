"""A browser's main thread for a 5,000-token markdown answer at 200 tokens a second, and how late words are shown.

The page is looked at four times a second: the age of its newest word is how late it is. The greatest age counts.
"""

import statistics

from benchmarks.browser import held_back, reader, watch
from benchmarks.figure import Figure, Options, at_most
from benchmarks.repeating import Repetition, noise, repeat
from benchmarks.site import PLAIN, Site, site

TOKENS, RATE = 5_000, 200.0


def measure(options: Options) -> list[Figure]:
    with site() as place:
        found = repeat(options, lambda: _once(place, options))
    details = found.summary("cpu s", "script s", "layout s", "late s", "late p50 s", "bytes over text")
    return [
        at_most("B20 CPU", found.median("cpu s"), "s of the main thread", 3, 1.5, details),
        at_most("B20 late", found.median("late s"), "s at most", 0.3),
    ]


def _once(place: Site, options: Options) -> Repetition:
    tokens = round((options.seconds or TOKENS / RATE) * RATE)
    answer = held_back(place, place.program().converse(PLAIN), tokens, RATE)
    with reader(place) as page:
        read = watch(page, place, answer)
    values = {
        "cpu s": read.cpu_s,
        "script s": read.script_s,
        "layout s": read.layout_s,
        "late s": max(read.late_s),
        "late p50 s": statistics.median(read.late_s),
        "bytes over text": read.bytes_ratio,
    }
    return Repetition(values, noise(place.model_stats()["late_max_ms"]))
