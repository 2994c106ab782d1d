"""What is shown while it happens, and neither stored nor numbered."""

from dataclasses import dataclass

from agentweb.engine.enums import DeltaKind


@dataclass(frozen=True, slots=True)
class Delta:
    """A streamed fragment. ``offset`` counts Unicode code points of that message and kind."""

    message: str
    kind: DeltaKind
    offset: int
    text: str


@dataclass(frozen=True, slots=True)
class ToolProgressed:
    """A note from a running tool; ``fraction`` is between 0 and 1 when the tool knows."""

    call: str
    text: str
    fraction: float | None = None
