"""One call of one tool, from its start to its result. Whatever the tool does, the run goes on."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from agentweb.engine import sentences
from agentweb.engine.digest import canonical
from agentweb.engine.enums import ResultKind
from agentweb.engine.events import SeamFailed, ToolFinished, ToolProgressed, ToolSuspended
from agentweb.engine.extending import after_tool
from agentweb.engine.judging import Candidate
from agentweb.engine.messages import ToolResult
from agentweb.engine.ports import Output, Progress, ToolError, ToolSuspension
from agentweb.engine.racing import close
from agentweb.engine.setup import Setup
from agentweb.engine.work import Work

logger = logging.getLogger(__name__)

End = ToolFinished | ToolSuspended
Report = ToolProgressed | End | SeamFailed


async def execute(work: Work, candidate: Candidate, report: Callable[[Report], None]) -> None:
    """Run the tool and report its progress, then exactly one ToolFinished or ToolSuspended; cancelled, no more."""
    clock, call = work.setup.clock, candidate.entry.call
    began = clock()
    outcome = await _outcome(work.setup, candidate, report)
    if isinstance(outcome, ToolSuspension):
        report(ToolSuspended(call.id, call.name, outcome.prompt, outcome.schema))
        return
    seconds = clock() - began
    result, failures = await after_tool(work, call, _told(candidate, outcome))
    for failure in failures:
        report(failure)
    report(ToolFinished(call.id, call.name, result, seconds=seconds))


async def _outcome(setup: Setup, candidate: Candidate, report: Callable[[Report], None]) -> ToolResult | ToolSuspension:
    call, timeout_s = candidate.entry.call, candidate.tool.spec.timeout_s
    limit = asyncio.timeout(timeout_s)
    try:
        async with limit:
            output = await _output(setup, candidate, report)
        content = output.content if output.content.strip() else sentences.NO_OUTPUT
        return ToolResult(call.id, content, ResultKind.OK, output.full)
    except ToolSuspension as suspension:
        return suspension
    except ToolError as error:
        return ToolResult(call.id, str(error) or sentences.crashed(error), ResultKind.ERROR)
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise
        return _crashed(candidate, error)  # the tool cancelled itself
    except (Exception, SystemExit) as error:
        if isinstance(error, TimeoutError) and limit.expired():
            return ToolResult(call.id, sentences.timed_out(timeout_s), ResultKind.TIMEOUT)
        return _crashed(candidate, error)


async def _output(setup: Setup, candidate: Candidate, report: Callable[[Report], None]) -> Output:
    call = candidate.entry.call.id
    stream = candidate.tool.execute(candidate.arguments, setup.tools.context(call))
    try:
        async for item in stream:
            match item:
                case Progress(text=text, fraction=fraction):
                    report(ToolProgressed(call, text, fraction))
                case Output():
                    return item
                case _:
                    assert_never(item)
        return Output("")
    finally:
        await close(stream)


def _crashed(candidate: Candidate, error: BaseException) -> ToolResult:
    logger.error("The tool %s failed", candidate.entry.call.name, exc_info=error)
    return ToolResult(candidate.entry.call.id, sentences.crashed(error), ResultKind.ERROR)


def _told(candidate: Candidate, result: ToolResult) -> ToolResult:
    """The model learns when its arguments were changed: it would misread the result otherwise."""
    if candidate.arguments == candidate.entry.call.arguments:
        return result
    by = candidate.changed_by or (candidate.decision.by if candidate.decision is not None else "")
    return replace(result, content=sentences.modified(by, canonical(candidate.arguments), result.content))
