"""A run that waits for a decision about one call, written through the journal as the worker would."""

from dataclasses import replace
from uuid import uuid4

from django.utils import timezone

from agentweb.engine import enums, events, previewing
from agentweb.engine.digest import call_digest, preview_digest
from agentweb.engine.messages import AssistantMessage, ToolCall
from agentweb.engine.ports import ToolContext
from agentweb.engine.terms import Terms
from agentweb.engine.usage import Usage
from agentweb.registry import catalog
from agentweb.runs import journal, workspaces
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
    looked: bool = False,
    rule: str = "rule",
) -> list[Approval]:
    """``count`` pending approvals of calls of one message, in order, as the owner sees them. ``looked``: with the
    preview that the tool gives, bound into their digests."""
    arguments = arguments or {"path": "a.txt", "content": "hello"}
    holder = journal.claim(str(run.public_id), make_worker(f"w{uuid4().hex[:6]}"))
    assert holder is not None
    message, calls = str(uuid4()), tuple(ToolCall(str(uuid4()), name, arguments, "{}") for _ in range(count))
    journal.append(holder, (events.TurnStarted(1), events.ModelRequested(message, 1, 1, "scripted", "d")))
    said = AssistantMessage(message, "", "", calls, enums.Finish.TOOL_CALLS)
    asks = tuple(
        events.ApprovalRequested(
            str(uuid4()), call.id, name, arguments, risk, "digest", rule, requires_comment, terms=terms
        )
        for call in calls
    )
    if looked:
        asks = tuple(_looked(run, ask) for ask in asks)
    journal.append(holder, (events.MessageFinished(said, Usage()), *asks))
    journal.append(holder, (events.RunPaused(tuple(call.id for call in calls), Usage()),))
    return [approval_for(cast.owner, ask.approval) for ask in asks]


def _looked(run: Run, ask: events.ApprovalRequested) -> events.ApprovalRequested:
    tool = catalog.tools()[ask.name]
    folder = workspaces.folder(str(run.conversation.public_id))
    preview = previewing.look(tool, ask.arguments, ToolContext(ask.call, folder, timezone.now, lambda: False))
    assert preview is not None
    seen = preview_digest(preview)
    return replace(
        ask,
        digest=call_digest(ask.arguments, tool.spec.digest, ask.rule, seen),
        effect=preview.effect,
        preview=previewing.shown(preview),
        definition=tool.spec.digest,
        seen=seen,
    )
