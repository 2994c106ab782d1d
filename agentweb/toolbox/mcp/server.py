"""What is known of an MCP server: how it is reached, and what of that must not be told."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from agentweb.engine.disguises import without
from agentweb.schema.json_text import digest
from agentweb.toolbox.definitions import Offer

ALWAYS = ("PATH", "HOME", "LANG", "TZ")  # what programs can hardly do without
LONGEST_ERROR = 2_000


class Observer(Protocol):
    """Whoever keeps the books of a server. Called in a thread."""

    def seen(self, offers: tuple[Offer, ...]) -> None:
        """The server answers, and these are its tools."""
        ...

    def failed(self, why: str) -> None:
        """It cannot be used, or it did not answer in time."""
        ...


class Nobody:
    """No books are kept."""

    def seen(self, offers: tuple[Offer, ...]) -> None: ...

    def failed(self, why: str) -> None: ...


@dataclass(frozen=True, slots=True)
class McpServer:
    """With a ``url`` it is reached there, with ``values`` as headers; else ``command`` starts it, with ``values`` as
    variables beside those that are ``inherited`` from the worker. ``key`` names it among all servers."""

    key: str
    name: str
    url: str = ""
    command: str = ""
    arguments: tuple[str, ...] = ()
    folder: str = ""
    inherited: tuple[str, ...] = ()
    values: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)

    @property
    def fingerprint(self) -> str:
        """Changes with whatever a connection is made of."""
        lists = [list(self.arguments), list(self.inherited)]
        return digest([self.url, self.command, self.folder, *lists, dict(self.values)])

    def environment(self) -> dict[str, str]:
        """All that its process is given of variables."""
        names = dict.fromkeys((*ALWAYS, *self.inherited))
        return {**{name: os.environ[name] for name in names if name in os.environ}, **self.values}

    def clean(self, text: str) -> str:
        """The text without what is secret about the server."""
        return without(text, sorted(self.values.values(), key=len, reverse=True))

    def error(self, text: str) -> str:
        return self.clean(text)[:LONGEST_ERROR]
