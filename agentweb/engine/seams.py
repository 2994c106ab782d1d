"""The points at which the loop can be extended. An extension is any object with methods named after the points.

Extensions are asked in the order of their ``priority``, the lowest first; 100 where they say nothing. A plain method
is called in a thread, an async one on the event loop; both are given up after ``timeout_s`` (10 s where they say
nothing) and when the run is cancelled. An error never ends in silence: it is recorded as SeamFailed, which names the
extension and what was done instead.
"""

import asyncio
import inspect
from collections.abc import Awaitable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Protocol

from agentweb.engine.events import SeamFailed
from agentweb.engine.messages import AssistantMessage, Message
from agentweb.engine.ports import Controls, Finding, Tool, ToolContext, ToolSpec
from agentweb.engine.racing import unless_cancelled
from agentweb.engine.transcript import CallEntry
from agentweb.engine.usage import Limits, Usage

PRIORITY = 100
TIMEOUT_S = 10.0


class Point(StrEnum):
    """Where the loop asks its extensions: the names of their methods."""

    AFTER_MODEL = "after_model"
    AFTER_ACTING = "after_acting"
    RECOVER = "recover"


@dataclass(frozen=True, slots=True)
class About:
    """Where a run stands when an extension is asked. ``messages`` is all that was said in the conversation, results
    included; ``turn`` counts from 1."""

    run: str
    conversation: str
    agent: str
    turn: int
    messages: tuple[Message, ...]
    tools: tuple[ToolSpec, ...]
    usage: Usage
    limits: Limits


@dataclass(frozen=True, slots=True)
class Stop:
    """The run shall end here, with the outcome stopped."""

    reason: str = ""


class AfterModel(Protocol):
    """The model's message is complete and recorded; nothing was done about it. Changes nothing itself.

    Stop ends the run before any of the calls runs, whatever other extensions say. May be asked again about the same
    message when the worker is lost right then. Should it fail, the run goes on."""

    def after_model(self, message: AssistantMessage, about: About) -> Stop | Awaitable[Stop | None] | None: ...


class AfterActing(Protocol):
    """The calls of the last message have run as far as they can; some may wait for a decision or for the outside.

    Stop ends the run, also when all of them wait. Asked again each time that something came in. Should it fail, the
    run goes on."""

    def after_acting(self, about: About) -> Stop | Awaitable[Stop | None] | None: ...


class Recover(Protocol):
    """A worker was lost in the middle of a call that may not be run twice. What became of it?

    Changes nothing. The first answer that is not Unsure counts; without one, a person is asked. Where no extension has
    this method, nothing of a run whose worker was lost goes on until a person says so."""

    def recover(
        self, call: CallEntry, tool: Tool | None, context: ToolContext
    ) -> Finding | Awaitable[Finding | None] | None: ...


@dataclass(frozen=True, slots=True)
class Said:
    """What an extension answered (None: nothing, or the run was cancelled meanwhile), or how it failed."""

    value: Any = None
    failure: SeamFailed | None = None


@dataclass(frozen=True, slots=True)
class Seams:
    """The extensions that are installed."""

    installed: tuple[object, ...] = ()

    def at(self, point: Point) -> list[object]:
        """Those that have something to say at this point, in the order in which they are asked."""
        found = [seam for seam in self.installed if callable(getattr(seam, point, None))]
        return sorted(found, key=lambda seam: getattr(seam, "priority", PRIORITY))


def name_of(seam: object) -> str:
    """How people call the extension: its ``name``, else that of its class."""
    return str(getattr(seam, "name", "") or type(seam).__name__)


async def consult(controls: Controls, seam: object, point: Point, *about: object, effect: str) -> Said:
    """Ask one extension. ``effect`` is what will be done should it fail, in words for the record."""
    limit_s = float(getattr(seam, "timeout_s", TIMEOUT_S))
    limit = asyncio.timeout(limit_s)
    try:
        async with limit:
            return Said(await unless_cancelled(controls, _answer(seam, point, about)))
    except Exception as error:
        late = isinstance(error, TimeoutError) and limit.expired()
        said = f"no answer within {limit_s:g} seconds" if late else f"{type(error).__name__}: {error}"
        return Said(failure=SeamFailed(name_of(seam), point.value, said.removesuffix(": "), effect))


async def _answer(seam: object, point: Point, about: tuple[object, ...]) -> Any:
    method = getattr(seam, point)
    if inspect.iscoroutinefunction(method):
        return await method(*about)
    answer = await asyncio.to_thread(method, *about)
    return await answer if inspect.isawaitable(answer) else answer
