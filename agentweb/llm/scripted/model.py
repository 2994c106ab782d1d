"""The model port over the scripted model: its bytes go through the same reader as any provider's."""

from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from agentweb.engine.messages import Json
from agentweb.engine.ports import ModelDelta, ModelReply, ModelRequest
from agentweb.engine.usage import Usage
from agentweb.llm.calls import new_call_id
from agentweb.llm.config import ToolProtocol
from agentweb.llm.reader import Reading, read_answer
from agentweb.llm.recorded import scripted_config
from agentweb.llm.request import WireRequest, build_request
from agentweb.llm.scripted.wire import stream_bytes
from agentweb.llm.usage import estimated

DEFAULT_DELAY_S = 0.025  # about 40 pieces a second, the pace of a brisk model


class ScriptedModel:
    """``delay_s``: seconds before each streamed piece. ``new_id`` makes the ids of tool calls."""

    def __init__(
        self,
        name: str = "Scripted, not an AI",
        *,
        delay_s: float = DEFAULT_DELAY_S,
        new_id: Callable[[], str] = new_call_id,
        protocol: ToolProtocol = ToolProtocol.NATIVE,
    ) -> None:
        self._config = scripted_config(name, protocol)
        self._delay_s = delay_s
        self._new_id = new_id

    @property
    def name(self) -> str:
        return self._config.name

    def prepare(self, request: ModelRequest) -> "ScriptedCall":
        return ScriptedCall(build_request(self._config, request), self._delay_s, Reading(self._new_id))


class ScriptedCall:
    def __init__(self, request: WireRequest, delay_s: float, reading: Reading) -> None:
        self._request = request
        self._delay_s = delay_s
        self._reading = reading

    @property
    def digest(self) -> str:
        return self._request.digest

    @property
    def body(self) -> dict[str, Json]:
        return self._request.body

    async def stream(self) -> AsyncGenerator[ModelDelta | ModelReply, None]:
        chunks = stream_bytes(self._request.body, self._delay_s)
        async with aclosing(chunks), aclosing(read_answer(chunks, self._request, self._reading)) as answer:
            async for part in answer:
                yield part

    def guess(self, text: str, thinking: str) -> Usage:
        return estimated(len(self._request.content), text, thinking, "", self._reading.prices)
