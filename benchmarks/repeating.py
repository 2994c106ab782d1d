"""Measuring several times, and throwing away what was noise."""

import math
import statistics
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from benchmarks.figure import Options, number

LATEST_MS = 50.0
"""The model server itself was this late with a token: the machine was busy with something else."""

RAW_P95_MS = 10.0
"""The raw reader, which does nothing, got its tokens this late."""

TRIES = 2  # times the repetitions that are wanted


@dataclass(frozen=True)
class Repetition:
    """``values`` by name. ``noise`` says why this one does not count, or is empty."""

    values: Mapping[str, float]
    noise: str = ""


def noise(late_ms: float, raw_p95_ms: float = 0.0) -> str:
    """The rule by which a repetition is thrown away: why, or nothing."""
    if late_ms > LATEST_MS:
        return f"the model server was {late_ms:.0f} ms late"
    if raw_p95_ms > RAW_P95_MS:
        return f"the raw reader's p95 was {raw_p95_ms:.0f} ms"
    return ""


@dataclass(frozen=True)
class Repeated:
    """What counts, and how many repetitions were thrown away."""

    kept: list[Repetition] = field(default_factory=list)
    discarded: int = 0

    def median(self, name: str) -> float:
        """NaN when every repetition was noise."""
        values = self._values(name)
        return statistics.median(values) if values else math.nan

    def spread(self, name: str, unit: str = "") -> str:
        """Median, least and most in words."""
        values = self._values(name)
        if not values:
            return f"{name}: no repetition was quiet enough"
        words = f"{name}: median {number(statistics.median(values))} {unit}".rstrip()
        return f"{words}, {number(min(values))} to {number(max(values))} in {len(values)}"

    def summary(self, *names: str) -> str:
        """The spreads, one a line, and what was thrown away."""
        lines = [self.spread(name) for name in names]
        if self.discarded:
            lines.append(f"thrown away as noise: {self.discarded} of {self.discarded + len(self.kept)}")
        return "\n".join(f"  {line}" for line in lines)

    def _values(self, name: str) -> list[float]:
        return [each.values[name] for each in self.kept]


def repeat(options: Options, once: Callable[[], Repetition]) -> Repeated:
    """Until enough repetitions count, or too many do not. Each is printed."""
    kept: list[Repetition] = []
    discarded = 0
    while len(kept) < options.repetitions and len(kept) + discarded < TRIES * options.repetitions:
        got = once()
        shown = ", ".join(f"{name} {number(value)}" for name, value in got.values.items())
        print(f"  {len(kept) + discarded + 1}. {shown}{f'; thrown away: {got.noise}' if got.noise else ''}", flush=True)
        if got.noise:
            discarded += 1
        else:
            kept.append(got)
    return Repeated(kept, discarded)
