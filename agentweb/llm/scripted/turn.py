"""What the scripted model says in one turn."""

import json
from collections.abc import Mapping
from dataclasses import dataclass

from agentweb.engine.messages import Json


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call. ``arguments`` is the text that is sent, which may be broken on purpose."""

    name: str
    arguments: str

    @classmethod
    def of(cls, name: str, **arguments: Json) -> "Call":
        return cls(name, json.dumps(arguments, ensure_ascii=False))

    @property
    def values(self) -> Mapping[str, Json]:
        """The arguments as an object; empty where the text is broken."""
        try:
            values = json.loads(self.arguments)
        except ValueError:
            return {}
        return values if isinstance(values, dict) else {}


@dataclass(frozen=True, slots=True)
class Turn:
    thinking: str = ""
    text: str = ""
    calls: tuple[Call, ...] = ()
