"""Tool names as providers accept them, and the way back to the true ones."""

import re
from collections.abc import Iterable
from hashlib import sha256

WIRE_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
_UNSAFE = re.compile(r"[^a-zA-Z0-9_-]+")
_NAMESPACE = re.compile(r"[.:/]")
_MAX = 64


def safe_name(name: str) -> str:
    """A name that every provider accepts; a name that already is one stays as it is."""
    if WIRE_NAME.match(name):
        return name
    stem = _UNSAFE.sub("_", name).strip("_")[: _MAX - 9] or "tool"
    return f"{stem}_{sha256(name.encode('utf-8', 'replace')).hexdigest()[:8]}"


class WireNames:
    """The names of the tools of one request, both ways. True names are unique; so are the wire names made here."""

    def __init__(self, names: Iterable[str]) -> None:
        true_names = list(dict.fromkeys(names))
        self._wire: dict[str, str] = {name: name for name in true_names if WIRE_NAME.match(name)}
        self._true = {wire: name for name, wire in self._wire.items()}
        for name in true_names:
            if name not in self._wire:
                self._add(name)
        self._short = self._unique_last_parts(true_names)

    def _add(self, name: str) -> None:
        wire, salt = safe_name(name), 0
        while wire in self._true:
            salt += 1
            wire = safe_name(f"{name} {salt}")
        self._wire[name] = wire
        self._true[wire] = name

    @staticmethod
    def _unique_last_parts(names: list[str]) -> dict[str, str]:
        """``{"create": "calendar.create"}`` for last parts that only one tool has."""
        seen: dict[str, list[str]] = {}
        for name in names:
            seen.setdefault(_NAMESPACE.split(name)[-1], []).append(name)
        return {short: owners[0] for short, owners in seen.items() if short and len(owners) == 1}

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """True names and those to send."""
        return tuple(self._wire.items())

    def wire(self, name: str) -> str:
        """The name to send. A tool that is no longer offered still gets a valid one."""
        return self._wire.get(name) or safe_name(name)

    def find(self, received: str) -> str | None:
        """The true name for what a model wrote, or None. A namespace in front is passed over when one tool fits."""
        name = received.strip()
        if name in self._true:
            return self._true[name]
        if name in self._wire:
            return name
        for cut in _NAMESPACE.finditer(name):
            rest = name[cut.end() :]
            if rest in self._true:
                return self._true[rest]
            if rest in self._wire:
                return rest
        return self._short.get(_NAMESPACE.split(name)[-1])

    def true(self, received: str) -> str:
        """Like ``find``, but an unknown name comes back as it was."""
        found = self.find(received)
        return received.strip() if found is None else found
