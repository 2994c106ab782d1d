"""Messages as they were written for the request before: a turn of a long run writes only what is new in it."""

import json
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from agentweb.engine.messages import AssistantMessage, ToolResult, UserMessage

WireMessage = dict[str, Any]
Source = UserMessage | AssistantMessage


def as_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Entry:
    """What one message became, with the results of its calls behind it, and the JSON of each."""

    source: Source
    ids: Hashable
    results: tuple[ToolResult | None, ...]
    wire: list[WireMessage]
    texts: list[str]

    def is_of(self, source: Source, ids: Hashable, results: Sequence[ToolResult | None]) -> bool:
        """Whether it was made of these very objects, which never change."""
        return (
            self.source is source
            and self.ids == ids
            and len(self.results) == len(results)
            and all(one is other for one, other in zip(self.results, results, strict=True))
        )


class Written:
    """What the last request of a run holds; the next one takes from it what is the same, and the rest is forgotten."""

    def __init__(self) -> None:
        self._frame: Hashable = None
        self._before: dict[int, Entry] = {}
        self._now: dict[int, Entry] = {}
        self._texts: dict[int, str] = {}

    def begin(self, frame: Hashable) -> None:
        """A new request. ``frame`` is what else the form of every message depends on; with another nothing is kept."""
        self._before = self._now if frame == self._frame else {}
        self._frame, self._now, self._texts = frame, {}, {}

    def find(self, source: Source, ids: Hashable, results: Sequence[ToolResult | None]) -> list[WireMessage] | None:
        entry = self._before.get(id(source))
        if entry is None or not entry.is_of(source, ids, results):
            return None
        self._hold(entry)
        return entry.wire

    def keep(
        self, source: Source, ids: Hashable, results: Sequence[ToolResult | None], wire: list[WireMessage]
    ) -> None:
        self._hold(Entry(source, ids, tuple(results), wire, [as_json(each) for each in wire]))

    def text(self, wire: WireMessage) -> str:
        """The JSON of a message of this request."""
        return self._texts.get(id(wire)) or as_json(wire)

    def _hold(self, entry: Entry) -> None:
        self._now[id(entry.source)] = entry
        self._texts.update(zip(map(id, entry.wire), entry.texts, strict=True))
