"""One call of one tool, from its start to its result. Whatever the tool does, the run goes on."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import assert_never

from agentweb.engine import sentences
from agentweb.engine.closing import after_failures
from agentweb.engine.digest import canonical
from agentweb.engine.enums import ResultKind
from agentweb.engine.events import SeamFailed, ToolFinished, ToolProgressed, ToolReplaced, ToolSuspended
from agentweb.engine.extending import after_tool
from agentweb.engine.judging import Candidate
from agentweb.engine.messages import ToolResult
from agentweb.engine.ports import Output, Progress, ToolError, ToolSpec, ToolSuspension, ToolUnavailable
from agentweb.engine.racing import close
from agentweb.engine.setup import Setup
from agentweb.engine.work import Work

logger = logging.getLogger(__name__)

FIRST_WAIT_S = 0.5  # before a tool is tried again; then twice as long each time

End = ToolFinished | ToolSuspended | ToolReplaced
Report = ToolProgressed | End | SeamFailed
Reporter = Callable[[Report], None]


@dataclass(frozen=True, slots=True)
class Made:
    """What came of a call: its result, after how many attempts, or how old an answer is that was kept."""

    result: ToolResult
    attempts: int = 1
    kept_s: float | None = None


async def execute(work: Work, candidate: Candidate, report: Reporter) -> None:
    """Run the tool and report its progress, then exactly one event that ends this; cancelled, no more."""
    clock, entry = work.setup.clock, candidate.entry
    began = clock()
    made = await _made(work.setup, candidate, report)
    if isinstance(made, ToolSuspension):
        report(ToolSuspended(entry.call.id, entry.tool, made.prompt, made.schema))
        return
    seconds, instead = clock() - began, _instead(work.setup, candidate, made)
    result, failures = await after_tool(work, entry.as_sent, made.result if instead else _told(candidate, made.result))
    for failure in failures:
        report(failure)
    if instead:
        report(ToolReplaced(entry.call.id, entry.tool, instead, result, seconds, made.attempts))
        return
    report(ToolFinished(entry.call.id, entry.tool, result, seconds=seconds, attempts=made.attempts, kept_s=made.kept_s))


def _instead(setup: Setup, candidate: Candidate, made: Made) -> str:
    """The tool that is used instead of one that failed, none twice. None for what changes something and may not be run
    twice, whatever it says of its failure: a part of it may have happened, and would happen again."""
    spec, entry = candidate.tool.spec, candidate.entry
    tried = {each.tool for each in entry.failures} | {spec.name}
    if not made.result.is_error or not spec.fallback or spec.fallback in tried:
        return ""
    harmless = spec.reads or spec.repeatable
    return spec.fallback if harmless and setup.tools.find(spec.fallback) else ""


async def _made(setup: Setup, candidate: Candidate, report: Reporter) -> Made | ToolSuspension:
    spec = candidate.tool.spec
    keeps = spec.reads and spec.deterministic and spec.keep_s > 0
    if keeps and (kept := await setup.answers.look(spec, candidate.arguments)):
        return Made(_result(candidate, kept.output), kept_s=kept.age_s)
    attempts = _Attempts(setup, candidate, report)
    made = await attempts.outcome()
    if keeps and attempts.output is not None:
        await setup.answers.keep(spec, candidate.arguments, attempts.output)
    return made


class _Attempts:
    """A tool is tried, and tried again where that does no harm and may help; all within its time-out."""

    def __init__(self, setup: Setup, candidate: Candidate, report: Reporter) -> None:
        self._setup = setup
        self._candidate = candidate
        self._report = report
        self._limit = asyncio.timeout(candidate.tool.spec.timeout_s)
        self._count = 0
        self.output: Output | None = None

    async def outcome(self) -> Made | ToolSuspension:
        try:
            async with self._limit:
                self.output = await self._answer()
            return Made(_result(self._candidate, self.output), self._count)
        except ToolSuspension as suspension:
            return suspension
        except ToolError as error:
            return self._failed(str(error) or sentences.crashed(error))
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return self._crashed(error)  # the tool cancelled itself
        except (Exception, SystemExit) as error:
            if isinstance(error, TimeoutError) and self._limit.expired():
                timeout_s = self._candidate.tool.spec.timeout_s
                return self._failed(sentences.timed_out(timeout_s), ResultKind.TIMEOUT)
            return self._crashed(error)

    async def _answer(self) -> Output:
        """Raises what the last attempt did."""
        while True:
            self._count += 1
            try:
                return await _output(self._setup, self._candidate, self._report)
            except Exception as error:
                wait_s = self._wait_s(error)
                if wait_s is None:
                    raise
                call, name = self._candidate.entry.call.id, self._candidate.entry.tool
                logger.warning("The tool %s is tried again, since this went wrong: %s", name, error)
                self._report(ToolProgressed(call, sentences.trying_again(sentences.crashed(error), wait_s)))
                await self._setup.sleep(wait_s)

    def _wait_s(self, error: Exception) -> float | None:
        """Seconds until the next attempt; None where there is to be none."""
        retries = _retries(self._candidate.tool.spec)
        if self._count > retries or not _may_pass(error):
            return None
        wait_s: float = FIRST_WAIT_S * 2 ** (self._count - 1) * (0.5 + self._setup.jitter() / 2)
        ends = self._limit.when()
        in_time = ends is None or asyncio.get_running_loop().time() + wait_s < ends
        return wait_s if in_time else None

    def _crashed(self, error: BaseException) -> Made:
        logger.error("The tool %s failed", self._candidate.entry.tool, exc_info=error)
        return self._failed(sentences.crashed(error))

    def _failed(self, text: str, kind: ResultKind = ResultKind.ERROR) -> Made:
        return Made(ToolResult(self._candidate.entry.call.id, text, kind), self._count)


def _retries(spec: ToolSpec) -> int:
    """A tool that may not run twice is never tried again."""
    return spec.retries if spec.repeatable else 0


def _may_pass(error: Exception) -> bool:
    """Whether the same call may succeed in a moment; what a tool says of its arguments, and a missing file, stay."""
    match error:
        case ToolSuspension() | FileNotFoundError() | PermissionError():
            return False
        case ToolError():
            return isinstance(error, ToolUnavailable)
        case _:
            return True


async def _output(setup: Setup, candidate: Candidate, report: Reporter) -> Output:
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


def _result(candidate: Candidate, output: Output) -> ToolResult:
    content = output.content if output.content.strip() else sentences.NO_OUTPUT
    return ToolResult(candidate.entry.call.id, content, ResultKind.OK, output.full)


def _told(candidate: Candidate, result: ToolResult) -> ToolResult:
    """The model learns when its arguments were changed, and when another tool was used: it would misread the result."""
    content = result.content
    if candidate.arguments != candidate.entry.call.arguments:
        by = candidate.changed_by or (candidate.decision.by if candidate.decision is not None else "")
        content = sentences.modified(by, canonical(candidate.arguments), content)
    return replace(result, content=after_failures(candidate.entry, content, ran=True))
