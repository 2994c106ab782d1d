"""Calls that can be taken back, and how."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from agentweb.engine.messages import Json
from agentweb.engine.ports import ToolContext


@dataclass(frozen=True, slots=True)
class Reverse:
    """The call that takes back what another one did."""

    tool: str
    arguments: Mapping[str, Json]


@runtime_checkable
class Reversible(Protocol):
    """A tool some of whose calls can be taken back."""

    def reverse(self, arguments: Mapping[str, Json], result: str, context: ToolContext) -> Reverse | None:
        """What would take back a call that ran with these arguments and gave this result; None where nothing would.
        Changes nothing; ``context`` is that of the call."""
        ...
