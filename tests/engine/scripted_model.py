"""A model that says what a test has written down for it."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from agentweb.engine.enums import (
    DeltaKind,
    Finish,
)
from agentweb.engine.messages import Json, ToolCall
from agentweb.engine.ports import (
    ModelDelta,
    ModelError,
    ModelReply,
    ModelRequest,
)
from agentweb.engine.usage import Usage


def call(id: str, name: str = "write", **arguments: Json) -> ToolCall:
    return ToolCall(id, name, arguments)


@dataclass
class Says:
    """One scripted model call. ``hangs``: after its deltas it never goes on."""

    text: str = ""
    calls: tuple[ToolCall, ...] = ()
    thinking: str = ""
    finish: Finish | None = None
    error: Exception | None = None
    hangs: bool = False
    silent: bool = False  # ends without a reply
    usage: Usage = field(default_factory=lambda: Usage(input_tokens=10, output_tokens=5))


@dataclass
class Prepared:
    model: "ScriptedTestModel"
    request: ModelRequest
    digest: str = "d1"

    def guess(self, text: str, thinking: str) -> Usage:
        return Usage(input_tokens=10, output_tokens=len(text) + len(thinking), estimated_calls=1)

    async def stream(self) -> AsyncIterator[ModelDelta | ModelReply]:
        says = self.model.next(self.request)
        try:
            for kind, text in ((DeltaKind.THINKING, says.thinking), (DeltaKind.TEXT, says.text)):
                for start in range(0, len(text), 4):
                    await asyncio.sleep(0)
                    yield ModelDelta(kind, text[start : start + 4])
            if says.hangs:
                await asyncio.Event().wait()
            if says.error:
                raise says.error
            if not says.silent:
                finish = says.finish or (Finish.TOOL_CALLS if says.calls else Finish.STOP)
                yield ModelReply(says.text, says.thinking, says.calls, finish, says.usage)
        finally:
            self.model.closed += 1


@dataclass
class ScriptedTestModel:
    """Answers from a script. Fails on a call too many; ``done`` fails on what was never asked for."""

    script: list[Says]
    name: str = "scripted"
    requests: list[ModelRequest] = field(default_factory=list)
    closed: int = 0
    refuses: ModelError | None = None

    def prepare(self, request: ModelRequest) -> Prepared:
        if self.refuses:
            raise self.refuses
        return Prepared(self, request)

    def next(self, request: ModelRequest) -> Says:
        self.requests.append(request)
        assert self.script, f"unexpected model call: {request}"
        return self.script.pop(0)

    def done(self) -> None:
        assert not self.script, f"the model was never asked for {self.script}"
        assert self.closed == len(self.requests), "a model stream was left open"
