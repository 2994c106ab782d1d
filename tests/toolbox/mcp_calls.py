"""A server that tests write the book of, and calls of its tools as the loop makes them."""

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentweb.engine.ports import Output, Progress
from agentweb.toolbox.definitions import Definition, Offer
from agentweb.toolbox.mcp.late import LateCaller
from agentweb.toolbox.mcp.reading import offer
from agentweb.toolbox.mcp.server import McpServer
from tests.toolbox.calling import context_in

SECRET = "hunter2-secret"
FAKE = str(Path(__file__).with_name("fake_mcp.py"))


class Notes:
    """What whoever keeps the books was told."""

    def __init__(self) -> None:
        self.offers: list[tuple[Offer, ...]] = []
        self.failures: list[str] = []

    def seen(self, offers: tuple[Offer, ...]) -> None:
        self.offers.append(offers)

    def failed(self, why: str) -> None:
        self.failures.append(why)


class Fake:
    """A fake server with the tools of these names."""

    def __init__(self, folder: Path, *names: str, **book: Any) -> None:
        self.folder = folder
        self._book = folder / "book.json"
        self.tools = {name: {"name": name, "inputSchema": {"type": "object"}} for name in names}
        self.notes = Notes()
        self.write(**book)
        self.server = McpServer(
            key=str(folder),
            name="Fake",
            command=sys.executable,
            arguments=(FAKE, str(self._book)),
            values={"FAKE_TOKEN": SECRET},
        )

    def write(self, **book: Any) -> None:
        self._book.write_text(json.dumps({"tools": list(self.tools.values()), **book}))

    def definition(self, name: str) -> Definition:
        found = offer("Fake", self.tools[name]).definition
        assert found is not None
        return found

    def steps(self, name: str, arguments: Mapping[str, Any] | None = None, *, limit_s: float = 60.0) -> Any:
        caller = LateCaller(self.server, limit_s, self.notes)
        return caller.steps(self.definition(name), arguments or {}, context_in(self.folder))

    async def call(self, name: str, arguments: Mapping[str, Any] | None = None) -> str:
        return (await self.all(name, arguments))[-1].content

    async def all(self, name: str, arguments: Mapping[str, Any] | None = None) -> list[Progress | Output]:
        return [step async for step in self.steps(name, arguments)]
