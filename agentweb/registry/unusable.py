"""A model that cannot be called, and says why: its run ends with that sentence."""

from collections.abc import AsyncIterator

from agentweb.engine.enums import ErrorKind
from agentweb.engine.ports import ModelDelta, ModelError, ModelReply, ModelRequest
from agentweb.engine.usage import Usage


class UnusableModel:
    """Stands in for a model whose row, key or settings are not as they must be."""

    digest = ""  # nothing is ever sent

    def __init__(self, name: str, sentence: str) -> None:
        self.name = name
        self.sentence = sentence

    def prepare(self, request: ModelRequest) -> "UnusableModel":
        return self

    def guess(self, text: str, thinking: str) -> Usage:
        return Usage()

    async def stream(self) -> AsyncIterator[ModelDelta | ModelReply]:
        raise ModelError(ErrorKind.AUTH, self.sentence)
        yield ModelReply()  # what makes this a generator
