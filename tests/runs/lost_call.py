"""A run whose worker was lost in the middle of a call, written through the journal as the workers would."""

from uuid import uuid4

from agentweb.engine import enums, events
from agentweb.engine.messages import AssistantMessage, ToolCall
from agentweb.engine.usage import Usage
from agentweb.runs import journal
from agentweb.runs.models import Call, Run
from agentweb.runs.selectors import call_for
from tests.cast import Cast, make_worker

ARGUMENTS = {"path": "a.txt", "content": "hello"}


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
