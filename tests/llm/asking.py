"""Short ways to ask a model in tests and to look at what it did."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from agentweb.engine.enums import DeltaKind, Purpose
from agentweb.engine.messages import Message, UserMessage
from agentweb.engine.ports import Model, ModelDelta, ModelError, ModelReply, ModelRequest, PreparedCall, ToolSpec
from agentweb.llm.config import ModelConfig
from agentweb.llm.native import OpenAIModel

CANARY = "sk-canary-7d3f9b1e5a"


@dataclass
class Outcome:
    """What one model call gave: deltas joined by kind, then a reply or an error."""

    text: str = ""
    thinking: str = ""
    reply: ModelReply | None = None
    error: ModelError | None = None
    deltas: list[ModelDelta] = field(default_factory=list)


def spec(name: str, parameters: dict[str, Any] | None = None) -> ToolSpec:
    return ToolSpec(name, name, f"The tool {name}.", parameters or {"type": "object", "properties": {}})


def request(
    messages: Sequence[Message] | str = "Hello",
    tools: Sequence[ToolSpec] = (),
    system: str = "You are a helper.",
    purpose: Purpose = Purpose.TURN,
) -> ModelRequest:
    if isinstance(messages, str):
        messages = [UserMessage("u1", messages, "Ann")]
    return ModelRequest("m1", system, tuple(messages), tuple(tools), purpose)


def model(base_url: str, **settings: Any) -> OpenAIModel:
    numbers = count(1)
    config = ModelConfig("Test", base_url, "test-model", settings.pop("api_key", CANARY), **settings)
    return OpenAIModel(config, lambda: f"own_{next(numbers)}")


async def ask(model: Model, asked: ModelRequest) -> Outcome:
    return await listen(model.prepare(asked))


async def listen(call: PreparedCall) -> Outcome:
    outcome = Outcome()
    try:
        async for part in call.stream():
            if isinstance(part, ModelReply):
                assert outcome.reply is None, "a second reply"
                outcome.reply = part
                continue
            assert outcome.reply is None, "a delta after the reply"
            outcome.deltas.append(part)
            if part.kind is DeltaKind.TEXT:
                outcome.text += part.text
            else:
                outcome.thinking += part.text
    except ModelError as error:
        outcome.error = error
    assert (outcome.reply is None) == (outcome.error is not None)
    return outcome
