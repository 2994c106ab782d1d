"""How much streams at once, and how fast; and the moments at which the streams begin."""

import random
from dataclasses import asdict, dataclass, replace
from typing import Any

from benchmarks.figure import Options

SPREAD_S = 1.0
"""Streams begin at random within this time: evenly spaced ones would share the token period and flatter each figure."""

HELD_S = 600
"""Longer than any start takes."""


@dataclass(frozen=True)
class Load:
    """``runs`` streams of ``rate`` tokens a second for ``seconds`` each."""

    runs: int
    rate: float
    seconds: float

    def within(self, options: Options) -> "Load":
        """Made smaller by what the command line says."""
        return replace(self, runs=options.runs or self.runs, seconds=options.seconds or self.seconds)

    @property
    def tokens(self) -> int:
        """Of one stream."""
        return max(2, round(self.rate * self.seconds))

    def message(self, key: str) -> str:
        """What to tell the model server, which then answers, but holds all tokens back until POST /go/``key``."""
        return f"Speak. [[tokens={self.tokens} rate={self.rate:g} ttft=0 stall=0 for={HELD_S} key={key}]]"

    def message_after(self, wait_s: float) -> str:
        """What to tell the model server so that tokens come ``wait_s`` after the request."""
        return f"Speak. [[tokens={self.tokens} rate={self.rate:g} ttft={max(0.0, wait_s):.4f}]]"

    def begins(self, first: float) -> list[float]:
        """A moment for each run, the first of them not before ``first``."""
        return [first + random.random() * SPREAD_S for _ in range(self.runs)]

    def __str__(self) -> str:
        return f"{self.runs} runs at {self.rate:g} tokens/s for {self.seconds:g} s"

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class Delays:
    """From the moment at which a token was written to the one at which it arrived, in milliseconds."""

    p50: float
    p95: float
    most: float

    @classmethod
    def of(cls, microseconds: list[int]) -> "Delays":
        """At least one is needed."""
        ordered = sorted(microseconds)
        last = len(ordered) - 1
        return cls(*(ordered[round(last * share)] / 1000 for share in (0.5, 0.95, 1.0)))
