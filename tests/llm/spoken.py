"""Reads the text of an answer in the protocol of a model, in pieces of any size, without a connection."""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import Any

from agentweb.engine.enums import DeltaKind, Purpose
from agentweb.engine.ports import ModelDelta, ModelReply, ToolSpec
from agentweb.llm.assembler import Assembler
from agentweb.llm.config import Capabilities, ModelConfig, Structured, ToolProtocol
from agentweb.llm.request import WireRequest, build_request
from tests.llm.asking import request, spec

WEATHER = spec("get_weather", {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]})
CLOCK = spec("get_time")
WRITE = spec("write_file", {"type": "object", "properties": {"path": {"type": "string"}, "text": {"type": "string"}}})
DOTTED = spec("calendar.create")
TOOLS = (WEATHER, CLOCK, WRITE, DOTTED)


@dataclass
class Heard:
    """What people saw while it streamed, and the message at its end."""

    text: str
    thinking: str
    reply: ModelReply
    deltas: list[ModelDelta]

    @property
    def calls(self) -> list[tuple[str, Any]]:
        """Name and arguments of each call, or why it can never run."""
        return [
            (call.name, call.arguments if call.invalid is None else call.invalid.value) for call in self.reply.calls
        ]

    @property
    def invented(self) -> str:
        return str(self.reply.extra.get("invented", {}).get("text", ""))


def asked(
    protocol: ToolProtocol,
    tools: Iterable[ToolSpec] = TOOLS,
    purpose: Purpose = Purpose.TURN,
    structured: Structured = Structured.NONE,
) -> WireRequest:
    config = ModelConfig(
        "Test", "http://127.0.0.1:1/v1", "m", protocol=protocol, can=Capabilities(structured=structured)
    )
    return build_request(config, request("Question", tuple(tools), purpose=purpose))


def hear(wire: WireRequest, pieces: Iterable[str], finish: str = "stop") -> Heard:
    """Raises the ModelError of an answer that is none."""
    ids = count(1)
    new_id = lambda: f"own{next(ids)}"  # noqa: E731
    assembler = Assembler(wire.names, new_id, wire.reader(new_id))
    deltas: list[ModelDelta] = []
    for piece in pieces:
        deltas += assembler.feed([{"choices": [{"index": 0, "delta": {"content": piece}}]}])
    assembler.feed([{"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}])
    deltas += assembler.close()
    reply = assembler.reply()
    text, thinking = (
        "".join(d.text for d in deltas if d.kind is kind) for kind in (DeltaKind.TEXT, DeltaKind.THINKING)
    )
    assert (text, thinking) == (reply.text, reply.thinking)
    assert all(delta.text for delta in deltas)
    return Heard(text, thinking, reply, deltas)


def hear_alike(wire: WireRequest, text: str, finish: str = "stop") -> Heard:
    """Read at once, in halves and letter by letter: it must be the same."""
    whole = hear(wire, [text], finish)
    for pieces in (
        list(text),
        [text[: len(text) // 2], text[len(text) // 2 :]],
        [text[at : at + 3] for at in range(0, len(text), 3)],
    ):
        cut = hear(wire, pieces, finish)
        assert (cut.text, cut.thinking, cut.calls, cut.invented) == (
            whole.text,
            whole.thinking,
            whole.calls,
            whole.invented,
        )
    return whole
