"""How far a run may go, as its snapshot says."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agentweb.runs.models import Run

MOST_KNOWN = 500


@dataclass(frozen=True, slots=True)
class Bounds:
    """``turns``: after so many the run ends; 0 where the snapshot does not say. ``windows``: how many tokens
    each of its models can read and write in one call, by name, where that is known."""

    turns: int
    windows: Mapping[str, int]


_KNOWN: dict[str, Bounds] = {}  # by digest: what has that digest never changes, and footers ask after every step


def bounds_of(run: Run) -> Bounds:
    """Needs the digest of the run's snapshot; reads its data once in the life of a process."""
    digest = run.snapshot.digest
    if digest not in _KNOWN:
        if len(_KNOWN) >= MOST_KNOWN:
            _KNOWN.clear()
        _KNOWN[digest] = _read(json.loads(run.snapshot.data))
    return _KNOWN[digest]


def _read(data: dict[str, Any]) -> Bounds:
    models = [data.get(name) or {} for name in ("cheaper", "fallback", "model")]
    windows = {model.get("name", ""): model["context_size"] for model in models if model.get("context_size")}
    return Bounds(data.get("max_turns") or 0, windows)
