"""How far a run may go, as its snapshot says."""

import json
from dataclasses import dataclass
from typing import Any

from agentweb.runs.models import Run

MOST_KNOWN = 500


@dataclass(frozen=True, slots=True)
class Bounds:
    """``turns``: after so many the run ends; ``context_size``: tokens that its model can read and write in one call.
    0 where the snapshot does not say."""

    turns: int
    context_size: int


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
    return Bounds(data.get("max_turns") or 0, (data.get("model") or {}).get("context_size") or 0)
