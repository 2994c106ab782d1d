"""What a benchmark gives back, and what it may be told.

Each benchmark is a module `benchmarks/bNN.py`: a docstring whose first line says what it measures, and
`measure(options) -> list[Figure]`. It prints its repetitions while it works; its figures are printed for it.
"""

import math
from dataclasses import dataclass

REPETITIONS = 3


@dataclass(frozen=True)
class Options:
    """``runs`` and ``seconds`` make a benchmark smaller than what its figure is about; None: its full size."""

    repetitions: int = REPETITIONS
    runs: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Figure:
    """``limit`` is what must hold and ``aim`` what is hoped for, in words such as "≤ 0.8"; ``aim`` may be empty.

    ``id`` is that of the benchmark, with a word behind it where one benchmark has several figures ("B3 p95").
    ``details`` goes before the figure, on as many lines as it needs.
    """

    id: str
    value: float
    unit: str
    limit: str
    aim: str
    passed: bool
    details: str = ""

    def sentence(self) -> str:
        """The last line of a benchmark. A value that could not be measured is never a pass."""
        shown = "no figure" if math.isnan(self.value) else f"{number(self.value)} {self.unit}"
        aim = f", aim {self.aim}" if self.aim else ""
        return f"{self.id}: {shown} (must hold {self.limit}{aim}): {'pass' if self.passed else 'fail'}"


def at_most(id: str, value: float, unit: str, limit: float, aim: float | None = None, details: str = "") -> Figure:
    """A figure that must not be above its limit."""
    wanted = "" if aim is None else f"≤ {number(aim)}"
    return Figure(id, value, unit, f"≤ {number(limit)}", wanted, value <= limit, details)


def at_least(id: str, value: float, unit: str, limit: float, aim: float | None = None, details: str = "") -> Figure:
    """A figure that must not be below its limit."""
    wanted = "" if aim is None else f"≥ {number(aim)}"
    return Figure(id, value, unit, f"≥ {number(limit)}", wanted, value >= limit, details)


def exactly(id: str, value: float, unit: str, wanted: float, details: str = "") -> Figure:
    """A figure that must be this one, such as a count of losses."""
    return Figure(id, value, unit, f"= {number(wanted)}", "", value == wanted, details)


def number(value: float) -> str:
    """Three digits that matter, and no more behind the point than those."""
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
