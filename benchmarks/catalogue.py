"""Finds the benchmarks: modules of this package that are named b and a number."""

import importlib
import pkgutil
import re
from collections.abc import Callable
from dataclasses import dataclass

import benchmarks
from benchmarks.figure import Figure, Options

_NAME = re.compile(r"b(\d+)")


@dataclass(frozen=True)
class Benchmark:
    """``measures`` is the first line of the module's docstring."""

    id: str
    measures: str
    measure: Callable[[Options], list[Figure]]


def find() -> dict[str, Benchmark]:
    """All benchmarks by id, in the order of their numbers."""
    numbers = sorted(
        int(found[1]) for module in pkgutil.iter_modules(benchmarks.__path__) if (found := _NAME.fullmatch(module.name))
    )
    return {f"B{number}": _load(number) for number in numbers}


def _load(number: int) -> Benchmark:
    module = importlib.import_module(f"benchmarks.b{number:02}")
    return Benchmark(f"B{number}", (module.__doc__ or "").strip().splitlines()[0], module.measure)
