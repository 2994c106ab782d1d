"""Reads the bytes of an answer without a connection."""

from collections.abc import AsyncIterator, Iterable
from itertools import count
from typing import Any

from agentweb.llm.config import ModelConfig, ToolProtocol
from agentweb.llm.reader import Reading, read_answer
from agentweb.llm.request import WireRequest, build_request
from tests.llm.asking import Outcome, listen, request, spec


def wire_for(tools: Iterable[dict[str, Any]], protocol: ToolProtocol = ToolProtocol.NATIVE) -> WireRequest:
    config = ModelConfig("Test", "http://127.0.0.1:1/v1", "m", protocol=protocol)
    return build_request(config, request("Question", [spec(tool["name"], tool["parameters"]) for tool in tools]))


class _Arriving:
    """A call that is answered with these chunks."""

    digest = ""

    def __init__(self, wire: WireRequest, chunks: Iterable[bytes]) -> None:
        self._wire = wire
        self._chunks = chunks

    async def _bytes(self) -> AsyncIterator[bytes]:
        for chunk in self._chunks:
            yield chunk

    def stream(self) -> AsyncIterator[Any]:
        ids = count(1)
        return read_answer(self._bytes(), self._wire, Reading(lambda: f"own_{next(ids)}"))


async def hear_bytes(wire: WireRequest, chunks: Iterable[bytes]) -> Outcome:
    return await listen(_Arriving(wire, chunks))
