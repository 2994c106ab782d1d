"""The tools that an answer may ask for, for protocols that find calls in text."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentweb.engine.messages import Json
from agentweb.engine.ports import ToolSpec
from agentweb.llm.names import WireNames


class Offered:
    """Found by whatever name a model writes; none at all where no call may be made."""

    def __init__(self, names: WireNames, specs: Sequence[ToolSpec]) -> None:
        self.names = names
        self.specs = tuple(specs)
        self._by_name = {spec.name: spec for spec in specs}

    def __bool__(self) -> bool:
        return bool(self.specs)

    def find(self, written: str) -> str | None:
        """The true name, or None for no such tool."""
        return self.names.find(written) if written.strip() else None

    def only_text(self, name: str) -> str | None:
        """The one parameter of a tool that takes a single text."""
        properties = self._properties(name)
        if len(properties) != 1:
            return None
        ((parameter, schema),) = properties.items()
        return parameter if isinstance(schema, Mapping) and schema.get("type") == "string" else None

    def takes_nothing(self, name: str) -> bool:
        return name in self._by_name and not self._properties(name)

    def _properties(self, name: str) -> Mapping[str, Json]:
        spec = self._by_name.get(name)
        parameters: Any = spec.parameters if spec else None
        found = parameters.get("properties") if isinstance(parameters, Mapping) else None
        return found if isinstance(found, Mapping) else {}
