"""Taking calls up again before anything is judged: what people said became of them, and what can be found out."""

from dataclasses import replace

from agentweb.engine.asking import consult
from agentweb.engine.closing import after_failures, answered
from agentweb.engine.entry import CallEntry
from agentweb.engine.enums import CallStatus, Resolution
from agentweb.engine.events import Event, OutcomeSettled, OutcomeUnknown, ToolFinished
from agentweb.engine.extending import after_tool
from agentweb.engine.messages import ToolResult
from agentweb.engine.ports import Done, Finding, NotDone, Tool, ToolContext, Unsure
from agentweb.engine.seams import Point, name_of
from agentweb.engine.work import Work

NOT_TOLD = "It is taken to be unknown what became of the call."


class Recovery:
    """The extension that is installed unless a site leaves it out: the tool itself is asked what became of its call."""

    name = "recovery"
    timeout_s = 30.0

    async def recover(self, call: CallEntry, tool: Tool | None, context: ToolContext) -> Finding:
        return Unsure() if tool is None else await tool.check(call.runs_with or {}, context)


async def take_up(work: Work) -> None:
    """Record what is known now about the open calls. A call that waits for a decision is left alone.

    Called before anything runs, so a call that is marked as started was lost with its worker."""
    for entry in work.transcript.open_calls():
        if entry.answer is not None:
            await _record(work, entry, answered(entry))
        elif entry.status is CallStatus.STARTED and not _repeatable(work, entry):
            await _record(work, entry, await _found_out(work, entry))


async def _record(work: Work, entry: CallEntry, events: tuple[Event, ...]) -> None:
    """A result from outside goes through the same extensions as that of a tool."""
    for event in events:
        if isinstance(event, ToolFinished):
            result, failures = await after_tool(work, entry.as_sent, event.result)
            work.add(*failures, replace(event, result=result))
        else:
            work.add(event)


def _repeatable(work: Work, entry: CallEntry) -> bool:
    tool = work.setup.tools.find(entry.tool)
    return tool is not None and tool.spec.repeatable


async def _found_out(work: Work, entry: CallEntry) -> tuple[Event, ...]:
    """Nothing when the run was cancelled meanwhile."""
    setup, call = work.setup, entry.call
    about = (entry, setup.tools.find(entry.tool), setup.tools.context(call.id))
    for seam in setup.seams.at(Point.RECOVER):
        said = await consult(setup.controls, seam, Point.RECOVER, *about, effect=NOT_TOLD)
        if said.failure:
            work.add(said.failure)
        match said.value:
            case Done(content=content):
                settled = OutcomeSettled(call.id, entry.tool, Resolution.DONE, name_of(seam))
                result = ToolResult(call.id, after_failures(entry, content, ran=True))
                return settled, ToolFinished(call.id, entry.tool, result)
            case NotDone():
                return (OutcomeSettled(call.id, entry.tool, Resolution.NOT_DONE, name_of(seam)),)
    return () if work.cancelled else (OutcomeUnknown(call.id, entry.tool),)
