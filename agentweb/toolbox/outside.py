"""A tool whose work is done elsewhere: an admin took its definition in, and a caller knows how to ask for it."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing
from typing import Protocol

from agentweb.engine.messages import Json
from agentweb.engine.ports import Finding, Output, Preview, Progress, ToolContext, ToolError, ToolUnavailable, Unsure
from agentweb.schema.problems import Problem
from agentweb.schema.validate import validate
from agentweb.toolbox.definitions import Definition
from agentweb.toolbox.results import for_model, to_output


class Caller(Protocol):
    """How the tools of one source are asked."""

    def effect(self, definition: Definition, arguments: Mapping[str, Json]) -> str:
        """What a call does, as far as it can be said without doing it; one sentence for people."""
        ...

    def steps(
        self, definition: Definition, arguments: Mapping[str, Json], context: ToolContext
    ) -> AsyncGenerator[Progress | Output, None]:
        """Progress, then the result. Raises ToolError. Closing it ends the call."""
        ...


class OutsideTool:
    """Immutable, so that agents can share it."""

    def __init__(self, definition: Definition, caller: Caller) -> None:
        self.definition = definition
        self.spec = definition.spec()
        self._caller = caller

    def problems(self, arguments: Mapping[str, Json]) -> list[str]:
        """Sentences that name the parameter."""
        return [_sentence(each) for each in validate(self.spec.parameters, arguments)]

    def preview(self, arguments: Mapping[str, Json], context: ToolContext) -> Preview | None:
        """Where the call goes, with the name that the source itself uses."""
        return Preview(self._caller.effect(self.definition, arguments))

    async def execute(self, arguments: Mapping[str, Json], context: ToolContext) -> AsyncIterator[Progress | Output]:
        """Arguments must have no problems."""
        try:
            async with aclosing(self._caller.steps(self.definition, arguments, context)) as steps:
                async for step in steps:
                    yield step if isinstance(step, Progress) else to_output(step)
        except ToolError as error:
            text = for_model(str(error))
            kind = ToolUnavailable if isinstance(error, ToolUnavailable) else ToolError
            raise error if text == str(error) else kind(text) from error

    async def check(self, arguments: Mapping[str, Json], context: ToolContext) -> Finding:
        """Nobody outside can be asked what became of a call."""
        return Unsure()


class Unusable:
    """Stands in for a caller that cannot be made, and says why."""

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence

    def effect(self, definition: Definition, arguments: Mapping[str, Json]) -> str:
        return f"This would fail: {self._sentence}"

    async def steps(
        self, definition: Definition, arguments: Mapping[str, Json], context: ToolContext
    ) -> AsyncGenerator[Progress | Output, None]:
        raise ToolError(self._sentence)
        yield Output("")  # what makes this a generator


def _sentence(found: Problem) -> str:
    return f"{found.path}: {found.message}" if found.path else found.message
