"""Puts the tool calls of one answer together from fragments, whatever a provider does to index, id and name."""

import json
import uuid
from collections.abc import Callable, Mapping
from dataclasses import replace

from agentweb.engine.messages import Json, ToolCall
from agentweb.llm.arguments import Arguments, ValueScan, parse_arguments, split_values
from agentweb.llm.cleaning import checked_json
from agentweb.llm.names import WireNames
from agentweb.schema.text import clean

MAX_CALLS = 128
MAX_EXTRA = 64  # fields beside the known ones of one call
LONGEST_NAME = 512  # characters; no tool's is as long, so more of it tells nothing
_KNOWN = frozenset({"index", "id", "type", "function"})
_KNOWN_FUNCTION = frozenset({"name", "arguments"})


def new_call_id() -> str:
    return f"call_{uuid.uuid4().hex}"


class TooManyCalls(ValueError):
    """One answer asks for more calls than any honest one does."""


def text_of(value: Json) -> str:
    """A string field; null, absent and wrong types are the empty string."""
    return value if isinstance(value, str) else ""


class _Draft:
    """One call in progress. ``raw`` is its argument text so far."""

    def __init__(self, index: int | None, provider_id: str) -> None:
        self.index = index
        self.provider_id = provider_id
        self.name = ""
        self.extra: dict[str, Json] = {}
        self._parts: list[str] = []
        self._size = 0
        self._scan = ValueScan()
        self._scanned = 0

    @property
    def raw(self) -> str:
        if len(self._parts) > 1:
            self._parts = ["".join(self._parts)]
            self._scan_rest()
            self._scanned = 1
        return self._parts[0] if self._parts else ""

    @property
    def complete(self) -> bool:
        """The argument text holds a whole value."""
        self._scan_rest()
        return self._scan.complete

    def _scan_rest(self) -> None:
        for part in self._parts[self._scanned :]:
            self._scan.feed(part)
        self._scanned = len(self._parts)

    def take_arguments(self, fragment: str) -> None:
        """A fragment that begins with everything so far replaces it, so an equal repeat changes nothing."""
        if self._size and len(fragment) >= self._size and fragment.startswith(self.raw):
            self._restart()
        self._append(fragment)

    def take_object(self, text: str) -> None:
        """Whole arguments sent as an object: they stand in for anything unfinished before them."""
        if self.complete and len(text) == self._size and text == self.raw:
            return
        if not self.complete:
            self._restart()
        self._append(text)

    def _restart(self) -> None:
        self._parts, self._size, self._scanned = [], 0, 0
        self._scan = ValueScan()

    def _append(self, fragment: str) -> None:
        self._parts.append(fragment)
        self._size += len(fragment)

    def take_name(self, fragment: str, names: WireNames) -> None:
        """Whole names are repeated by some providers and cut in pieces by others."""
        if not self.name or fragment.startswith(self.name):
            self.name = fragment
        elif not self._size and len(self.name) < LONGEST_NAME:
            joined = self.name + fragment
            if names.find(joined) is not None or names.find(self.name) is None:
                self.name = joined

    def take_extra(self, item: Mapping[str, Json], function: Mapping[str, Json]) -> None:
        """Whatever stands beside the known fields is kept, to go back unchanged."""
        for key, value in item.items():
            if key not in _KNOWN and value not in (None, "") and len(self.extra) < MAX_EXTRA:
                self.extra[key] = checked_json(value)
        beside = {k: checked_json(v) for k, v in function.items() if k not in _KNOWN_FUNCTION and v}
        kept = self.extra.setdefault("function", {}) if beside else {}
        if len(kept) < MAX_EXTRA:
            kept.update(beside)


class CallAssembler:
    """Feed it the entries of ``tool_calls``; ``build`` gives the calls in the order in which they began."""

    def __init__(self, names: WireNames, new_id: Callable[[], str]) -> None:
        self._names = names
        self._new_id = new_id
        self._drafts: list[_Draft] = []
        self._by_id: dict[str, _Draft] = {}
        self._by_index: dict[int, _Draft] = {}

    def __bool__(self) -> bool:
        return bool(self._drafts)

    def feed(self, item: Mapping[str, Json]) -> None:
        """Raises TooManyCalls, and ValueError for provider data nested beyond reason."""
        function = item.get("function")
        function = function if isinstance(function, dict) else {}
        name = text_of(function.get("name"))
        provider_id = str(item.get("id") or "")
        index = item.get("index")
        index = index if isinstance(index, int) and not isinstance(index, bool) else None
        arguments = function.get("arguments")
        fragment = arguments if isinstance(arguments, str) else ""
        whole = json.dumps(arguments, ensure_ascii=False) if isinstance(arguments, dict | list) else ""
        draft = self._place(index, provider_id, name, whole or fragment)
        if name:
            draft.take_name(name, self._names)
        if whole:
            draft.take_object(whole)
        elif fragment:
            draft.take_arguments(fragment)
        if not _KNOWN.issuperset(item) or not _KNOWN_FUNCTION.issuperset(function):
            draft.take_extra(item, function)

    def _place(self, index: int | None, provider_id: str, name: str, arguments: str) -> _Draft:
        """The call that a fragment belongs to, begun here if it is a new one."""
        same_id = self._by_id.get(provider_id) if provider_id else None
        same_index = self._by_index.get(index) if index is not None else None
        new_id = bool(provider_id) and same_id is None
        new_index = index is not None and same_index is None and (same_id is None or same_id.index is not None)
        if not self._drafts or (name and (new_id or new_index)):
            return self._begin(index, provider_id)
        draft = same_id or same_index or self._drafts[-1]
        if not new_id and name and self._follows(draft, name, arguments):
            return self._begin(index, provider_id)
        self._learn(draft, index, provider_id)
        return draft

    def _follows(self, draft: _Draft, name: str, arguments: str) -> bool:
        """A named fragment behind complete arguments begins another call, unless it repeats the one before."""
        if not draft.complete:
            return False
        other = self._names.true(name) != self._names.true(draft.name) and self._names.find(name) is not None
        if not arguments:
            return other
        return arguments.lstrip().startswith("{") and (other or not arguments.startswith(draft.raw))

    def _begin(self, index: int | None, provider_id: str) -> _Draft:
        if len(self._drafts) >= MAX_CALLS:
            raise TooManyCalls(f"more than {MAX_CALLS} calls in one answer")
        draft = _Draft(index, provider_id)
        self._drafts.append(draft)
        if index is not None:
            self._by_index[index] = draft
        if provider_id:
            self._by_id[provider_id] = draft
        return draft

    def _learn(self, draft: _Draft, index: int | None, provider_id: str) -> None:
        """An index or id that comes late is taken over by a call that had none."""
        if index is not None and draft.index is None and index not in self._by_index:
            draft.index = index
            self._by_index[index] = draft
        if provider_id and not draft.provider_id:
            draft.provider_id = provider_id
            self._by_id[provider_id] = draft

    def build(self, *, cut_off: bool) -> tuple[ToolCall, ...]:
        """``cut_off``: the answer hit the output limit. Raises TooManyCalls."""
        calls: list[ToolCall] = []
        for draft in self._drafts:
            if not draft.name and not draft.raw:
                continue
            last = draft is self._drafts[-1]
            for piece in split_values(draft.raw):
                parsed = parse_arguments(piece, cut_off=cut_off and (last or bool(piece)))
                calls.append(self._call(draft, parsed))
                if len(calls) > MAX_CALLS:
                    raise TooManyCalls(f"more than {MAX_CALLS} calls in one answer")
        return _without_shared_ids(calls)

    def _call(self, draft: _Draft, parsed: Arguments) -> ToolCall:
        return ToolCall(
            id=self._new_id(),
            name=clean(self._names.true(draft.name)),
            arguments=parsed.value,
            raw=clean(parsed.raw),
            provider_id=clean(draft.provider_id),
            invalid=parsed.invalid,
            detail=clean(parsed.detail),
            extra=draft.extra,
        )


def _without_shared_ids(calls: list[ToolCall]) -> tuple[ToolCall, ...]:
    """Only the first of several calls with one provider id keeps it."""
    seen: set[str] = set()
    result = []
    for call in calls:
        result.append(replace(call, provider_id="") if call.provider_id in seen else call)
        seen.add(call.provider_id)
    return tuple(result)
