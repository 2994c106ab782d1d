"""What a tool from outside was defined as when an admin took it in, to be compared with what its source says now."""

import json
import re
from collections.abc import Container, Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from agentweb.engine.enums import Risk
from agentweb.engine.messages import Json
from agentweb.engine.ports import ToolSpec
from agentweb.schema.json_text import digest

LONGEST_NAME = 64
LONGEST_LABEL = 100

_UNSAFE = re.compile(r"[^a-zA-Z0-9_-]+")
_SAFE = re.compile(r"[a-zA-Z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class Definition:
    """``name`` is what models are told, ``true_name`` what the source calls it. ``parameters`` is a JSON Schema of type
    object that providers accept, made from ``raw``, which is all that the source said and needs to be called."""

    name: str
    true_name: str
    label: str
    description: str
    parameters: Mapping[str, Json]
    raw: Mapping[str, Json]
    reads: bool = False
    repeatable: bool = False

    @property
    def digest(self) -> str:
        """SHA-256 of what an approval or a grant is given for; the label may change without harm."""
        return digest(
            {
                "name": self.name,
                "true_name": self.true_name,
                "description": self.description,
                "parameters": dict(self.parameters),
                "raw": dict(self.raw),
                "reads": self.reads,
                "repeatable": self.repeatable,
            }
        )

    @property
    def source_digest(self) -> str:
        """SHA-256 of what the source itself said."""
        return digest([self.true_name, dict(self.raw)])

    def spec(self) -> ToolSpec:
        """As the engine knows tools. Risk and time-out are for admins to say."""
        return ToolSpec(
            self.name,
            self.label,
            self.description,
            self.parameters,
            self.reads,
            self.repeatable,
            digest=self.digest,
        )

    def named(self, name: str) -> "Definition":
        """The same under the name that models know it by already."""
        return replace(self, name=name)

    def to_text(self) -> str:
        """JSON that keeps the order of parameters."""
        fields = ("name", "true_name", "label", "description", "reads", "repeatable")
        data = {name: getattr(self, name) for name in fields}
        return json.dumps(data | {"parameters": dict(self.parameters), "raw": dict(self.raw)}, ensure_ascii=False)

    @classmethod
    def from_text(cls, text: str) -> "Definition":
        """Raises ValueError for what ``to_text`` did not write."""
        try:
            data: dict[str, Any] = json.loads(text)
            return cls(**data)
        except TypeError as error:
            raise ValueError(f"This is no definition of a tool: {error}") from error


def free_name(wanted: str, taken: Container[str]) -> str:
    """A name that every provider accepts and that nobody has: of the source's own as much as can be kept."""
    stem = wanted if _SAFE.fullmatch(wanted) else _stem(wanted)
    if stem not in taken:
        return stem
    number = 2
    while True:
        end = f"_{number}"
        found = stem[: LONGEST_NAME - len(end)] + end
        if found not in taken:
            return found
        number += 1


def _stem(wanted: str) -> str:
    """Names that differ only in what cannot be kept get different stems, whatever the order in which they come."""
    kept = _UNSAFE.sub("_", wanted).strip("_")
    if wanted.isascii() and len(kept) <= LONGEST_NAME and kept:
        return kept
    mark = sha256(wanted.encode("utf-8", "replace")).hexdigest()[:8]
    return f"{kept[: LONGEST_NAME - 9] or 'tool'}_{mark}"


@dataclass(frozen=True, slots=True)
class Offer:
    """One tool as its source offers it: with the risk level that seems right, or with the reason why it cannot be used.

    Without a reason there is a ``definition``, whose name is what its source would like to be known as."""

    true_name: str
    definition: Definition | None = None
    risk: Risk = Risk.HIGH
    why_not: str = ""
