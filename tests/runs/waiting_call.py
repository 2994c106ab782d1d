"""A run that waits for a decision about one call, written through the journal as the worker would."""

from uuid import uuid4

from agentweb.engine import enums, events
from agentweb.engine.messages import AssistantMessage, ToolCall
from agentweb.engine.terms import Terms
from agentweb.engine.usage import Usage
from agentweb.runs import journal
from agentweb.runs.models import Approval, Run
from agentweb.runs.selectors import approval_for
from tests.cast import Cast, make_worker


def waiting_approvals(
    cast: Cast,
    run: Run,
    count: int = 1,
    *,
    name: str = "write_file",
    arguments: dict | None = None,
    risk: enums.Risk = enums.Risk.MEDIUM,
    requires_comment: bool = False,
    terms: Terms | None = None,
) -> list[Approval]:
    """``count`` pending approvals of calls of one message, in order, as the owner sees them."""
    arguments = arguments or {"path": "a.txt", "content": "hello"}
    holder = journal.claim(str(run.public_id), make_worker(f"w{uuid4().hex[:6]}"))
    assert holder is not None
    message, calls = str(uuid4()), tuple(ToolCall(str(uuid4()), name, arguments, "{}") for _ in range(count))
    journal.append(holder, (events.TurnStarted(1), events.ModelRequested(message, 1, 1, "scripted", "d")))
    said = AssistantMessage(message, "", "", calls, enums.Finish.TOOL_CALLS)
    asks = tuple(
        events.ApprovalRequested(
            str(uuid4()), call.id, name, arguments, risk, "digest", "rule", requires_comment, terms=terms
        )
        for call in calls
    )
    journal.append(holder, (events.MessageFinished(said, Usage()), *asks))
    journal.append(holder, (events.RunPaused(tuple(call.id for call in calls), Usage()),))
    return [approval_for(cast.owner, ask.approval) for ask in asks]
