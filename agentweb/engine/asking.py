"""Asking one extension: in time, without blocking others, and never failing in silence."""

import asyncio
import inspect
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass
from typing import Any

from agentweb.engine.events import SeamFailed
from agentweb.engine.messages import AssistantMessage, ToolResult, UserMessage
from agentweb.engine.ports import Controls, Done, ModelRequest, NotDone, Unsure
from agentweb.engine.racing import unless_cancelled
from agentweb.engine.seams import TIMEOUT_S, Block, Note, Point, Rewrite, Stop, ThinkAgain, name_of

MESSAGE = (UserMessage, AssistantMessage, ToolResult)
NOTES = (str, Note, list, tuple)
ANSWERS: Mapping[Point, tuple[type, ...]] = {
    Point.BEFORE_RUN: NOTES,
    Point.TRANSFORM_CONTEXT: (list, tuple),
    Point.CONVERT_MESSAGE: MESSAGE,
    Point.BEFORE_MODEL: (ModelRequest,),
    Point.AFTER_MODEL: (Stop, ThinkAgain),
    Point.BEFORE_TOOL: (Block, Rewrite),
    Point.AFTER_TOOL: (ToolResult,),
    Point.AFTER_ACTING: (Stop,),
    Point.STEERING: NOTES,
    Point.FOLLOW_UPS: NOTES,
    Point.API_KEY: (str,),
    Point.BEFORE_WRAP_UP: NOTES,
    Point.RECOVER: (Done, NotDone, Unsure),
}


@dataclass(frozen=True, slots=True)
class Said:
    """What an extension answered (None: nothing, or the run was cancelled meanwhile), or how it failed."""

    value: Any = None
    failure: SeamFailed | None = None


async def consult(controls: Controls | None, seam: object, point: Point, *about: object, effect: str) -> Said:
    """Ask one extension. ``effect`` says in the record what was done if it failed. Without ``controls``, a cancel does
    not end the waiting."""
    limit_s = float(getattr(seam, "timeout_s", TIMEOUT_S))
    limit = asyncio.timeout(limit_s)
    answer = _answer(seam, point, about)
    try:
        async with limit:
            value = await (unless_cancelled(controls, answer) if controls else answer)
            _check(point, value)
            return Said(value)
    except Exception as error:
        late = isinstance(error, TimeoutError) and limit.expired()
        said = f"no answer within {limit_s:g} seconds" if late else f"{type(error).__name__}: {error}"
        return Said(failure=SeamFailed(name_of(seam), point.value, said.removesuffix(": "), effect))


def _check(point: Point, value: object) -> None:
    """Raises TypeError for an answer that means nothing at this point."""
    kinds = ANSWERS.get(point)
    wrong = [value] if value is not None and kinds is not None and not isinstance(value, kinds) else []
    if point is Point.TRANSFORM_CONTEXT and isinstance(value, list | tuple):
        wrong = [each for each in value if not isinstance(each, MESSAGE)]
    if wrong:
        raise TypeError(f"answered with {type(wrong[0]).__name__}, which means nothing here")


def _answer(seam: object, point: Point, about: tuple[object, ...]) -> Coroutine[Any, Any, Any]:
    method = getattr(seam, point)
    return method(*about) if inspect.iscoroutinefunction(method) else _from_thread(method, about)


async def _from_thread(method: Any, about: tuple[object, ...]) -> Any:
    answer = await asyncio.to_thread(method, *about)
    return await answer if inspect.isawaitable(answer) else answer
