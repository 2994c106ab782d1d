"""Runs that wait for something else than a decision, written through the journal as the workers would."""

from uuid import uuid4

from agentweb.engine import enums, events
from agentweb.engine.messages import AssistantMessage, ToolCall
from agentweb.engine.usage import Usage
from agentweb.runs import journal
from agentweb.runs.models import Call, Run
from agentweb.runs.selectors import call_for
from tests.cast import Cast, make_worker

ARGUMENTS = {"path": "a.txt", "content": "hello"}


def suspended_calls(cast: Cast, run: Run, count: int = 1, schema: dict | None = None) -> list[Call]:
    """The run waits for the results of its calls to come from outside. ``schema``: what they must fit."""
    holder = journal.claim(str(run.public_id), make_worker(f"w{uuid4().hex[:6]}"))
    assert holder is not None
    message, calls = str(uuid4()), tuple(ToolCall(str(uuid4()), "ask_city", {}, "{}") for _ in range(count))
    said = AssistantMessage(message, "I ask.", "", calls, enums.Finish.TOOL_CALLS)
    journal.append(holder, (events.TurnStarted(1), events.ModelRequested(message, 1, 1, "scripted", "d")))
    starts = tuple(events.ToolStarted(call.id, "ask_city", {}) for call in calls)
    journal.append(holder, (events.MessageFinished(said, Usage()), *starts))
    waits = tuple(events.ToolSuspended(call.id, "ask_city", "Which city?", schema) for call in calls)
    journal.append(holder, (*waits, events.RunPaused(tuple(call.id for call in calls), Usage())))
    return [call_for(cast.owner, call.id) for call in calls]


def unknown_call(cast: Cast, run: Run, name: str = "write_file") -> Call:
    """The run waits, since nobody knows what became of its one call."""
    holder = journal.claim(str(run.public_id), make_worker(f"w{uuid4().hex[:6]}"))
    assert holder is not None
    message, call = str(uuid4()), ToolCall(str(uuid4()), name, ARGUMENTS, "{}")
    said = AssistantMessage(message, "I write.", "", (call,), enums.Finish.TOOL_CALLS)
    journal.append(holder, (events.TurnStarted(1), events.ModelRequested(message, 1, 1, "scripted", "d")))
    journal.append(holder, (events.MessageFinished(said, Usage()), events.ToolStarted(call.id, name, ARGUMENTS)))
    journal.append(holder, (events.OutcomeUnknown(call.id, name), events.RunPaused((call.id,), Usage())))
    return call_for(cast.owner, call.id)
