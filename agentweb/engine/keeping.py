"""Answers of tools that are kept for a while, and a call that is answered with one instead of running its tool."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from agentweb.engine.messages import Json
from agentweb.engine.ports import Output, ToolSpec


@dataclass(frozen=True, slots=True)
class Kept:
    """What a tool answered to the same arguments ``age_s`` seconds ago."""

    output: Output
    age_s: float


class Answers(Protocol):
    """Answers that are kept for a while. Nobody gets one from a place that is not theirs; neither method raises."""

    async def look(self, tool: ToolSpec, arguments: Mapping[str, Json]) -> Kept | None: ...

    async def keep(self, tool: ToolSpec, arguments: Mapping[str, Json], output: Output) -> None: ...


class NoAnswers:
    """Nothing is kept."""

    async def look(self, tool: ToolSpec, arguments: Mapping[str, Json]) -> Kept | None:
        return None

    async def keep(self, tool: ToolSpec, arguments: Mapping[str, Json], output: Output) -> None:
        pass
