"""What stands in a model's place where a person wants one call made: it asks for that call, then says what came of it.

It is no model: nothing is sent anywhere, and nothing is counted."""

import json
from collections.abc import AsyncGenerator, Callable, Mapping

from agentweb.engine.enums import DeltaKind, Finish
from agentweb.engine.messages import Json, ToolCall, ToolResult
from agentweb.engine.ports import ModelDelta, ModelReply, ModelRequest
from agentweb.engine.usage import Usage
from agentweb.llm.config import ModelConfig
from agentweb.llm.request import build_request


class SingleCall:
    """``call`` has the name of a tool and its arguments."""

    def __init__(self, config: ModelConfig, call: Mapping[str, Json], new_id: Callable[[], str]) -> None:
        self._config = config
        self._call = call
        self._new_id = new_id

    @property
    def name(self) -> str:
        return self._config.name

    def prepare(self, request: ModelRequest) -> "SingleCallMade":
        digest = build_request(self._config, request).digest
        last = request.messages[-1] if request.messages else None
        if isinstance(last, ToolResult):
            return SingleCallMade(digest, ModelReply(last.content))
        arguments = self._call["arguments"]
        assert isinstance(arguments, Mapping)
        call = ToolCall(self._new_id(), str(self._call["name"]), arguments, json.dumps(dict(arguments)))
        return SingleCallMade(digest, ModelReply(calls=(call,), finish=Finish.TOOL_CALLS))


class SingleCallMade:
    def __init__(self, digest: str, reply: ModelReply) -> None:
        self._digest = digest
        self._reply = reply

    @property
    def digest(self) -> str:
        return self._digest

    async def stream(self) -> AsyncGenerator[ModelDelta | ModelReply, None]:
        if self._reply.text:
            yield ModelDelta(DeltaKind.TEXT, self._reply.text)
        yield self._reply

    def guess(self, text: str, thinking: str) -> Usage:
        return Usage()
