"""Reads the bytes of an answer without a connection."""

from collections.abc import AsyncIterator, Iterable
from typing import Any

from agentweb.engine.ports import ModelRequest, PreparedCall
from agentweb.llm.calls import new_call_id
from agentweb.llm.config import ModelConfig, ToolProtocol
from agentweb.llm.reader import Reading, read_answer
from agentweb.llm.request import WireRequest, build_request
from tests.llm.asking import Outcome, listen, request, spec
from tests.llm.fake_provider import event


def wire_for(tools: Iterable[dict[str, Any]], protocol: ToolProtocol = ToolProtocol.NATIVE) -> WireRequest:
    config = ModelConfig("Test", "http://127.0.0.1:1/v1", "m", protocol=protocol)
    return build_request(config, request("Question", [spec(tool["name"], tool["parameters"]) for tool in tools]))


class Speaking:
    """A model that says these texts, one for each request, in a protocol; it keeps the bodies that it was sent."""

    name = "Test"

    def __init__(self, protocol: ToolProtocol, *texts: str) -> None:
        self._config = ModelConfig("Test", "http://127.0.0.1:1/v1", "m", protocol=protocol)
        self._texts = list(texts)
        self.bodies: list[dict[str, Any]] = []

    def prepare(self, asked: ModelRequest) -> PreparedCall:
        wire = build_request(self._config, asked)
        self.bodies.append(wire.body)
        return _Arriving(wire, [event({"content": self._texts.pop(0)}, "stop").encode()])


class _Arriving:
    """A call that is answered with these chunks."""

    def __init__(self, wire: WireRequest, chunks: Iterable[bytes]) -> None:
        self.digest = wire.digest
        self._wire = wire
        self._chunks = chunks

    async def _bytes(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk

    def stream(self) -> AsyncIterator[Any]:
        return read_answer(self._bytes(), self._wire, Reading(new_call_id))


async def hear_bytes(wire: WireRequest, chunks: Iterable[bytes]) -> Outcome:
    return await listen(_Arriving(wire, chunks))
