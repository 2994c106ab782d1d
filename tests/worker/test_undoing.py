"""What a call did to a file is taken back by a run of its own, after a person has approved the reverse call."""

import asyncio
import json
from uuid import uuid4

import pytest
from django.conf import settings

from agentweb.engine import enums, events
from agentweb.engine.messages import AssistantMessage, ToolCall, ToolResult
from agentweb.engine.ports import ToolContext
from agentweb.engine.usage import Usage
from agentweb.registry import catalog
from agentweb.runs import decisions, journal, selectors, transcripts, undoing, workspaces
from agentweb.runs.live.connections import close_connections
from agentweb.runs.models import Call, Run
from agentweb.ui.calls import call_card
from agentweb.worker.controls import ControlDesk
from agentweb.worker.database import DatabaseThreads
from agentweb.worker.driver import Shop, drive
from agentweb.worker.flusher import Flusher
from tests.author import in_thread
from tests.cast import Cast, make_cast, make_worker
from tests.toolbox.calling import NOW, steps_of

pytestmark = pytest.mark.django_db(transaction=True)


def written(cast: Cast) -> Call:
    """A finished run in which a file was written, really."""
    run = cast.builder_run()
    holder = journal.claim(str(run.public_id), make_worker(f"w{uuid4().hex[:6]}"))
    assert holder is not None
    arguments = {"path": "a.txt", "content": "hello"}
    message, call = str(uuid4()), ToolCall(str(uuid4()), "write_file", arguments, "{}")
    context = ToolContext(call.id, workspaces.folder(holder.conversation), lambda: NOW, lambda: False)
    asyncio.run(steps_of(catalog.tools()["write_file"], arguments, context))
    said = AssistantMessage(message, "I write.", "", (call,), enums.Finish.TOOL_CALLS)
    journal.append(holder, (events.TurnStarted(1), events.ModelRequested(message, 1, 1, "scripted", "d")))
    started = events.ToolStarted(call.id, "write_file", arguments)
    finished = events.ToolFinished(call.id, "write_file", ToolResult(call.id, "Wrote a.txt."))
    end = events.RunFinished(enums.Outcome.STOPPED, enums.Reason.AFTER_ACTING, "Stopped.", Usage())
    journal.append(holder, (events.MessageFinished(said, Usage()), started, finished, events.TurnFinished(1), end))
    return selectors.call_for(cast.owner, call.id)


async def test_the_reverse_call_is_asked_about_runs_and_is_known_to_have_been_a_persons(valkey):
    cast = await in_thread(make_cast)
    call = await in_thread(written, cast)
    file = workspaces.folder(str(call.run.conversation.public_id)) / "a.txt"
    assert (await in_thread(call_card, call, {})).may_undo and file.read_text() == "hello"

    undo = await in_thread(lambda: undoing.undo(user=cast.owner, call=call))
    database, flusher = DatabaseThreads(), Flusher(settings.FLUSH_SECONDS, asyncio.get_running_loop().time)
    showing = asyncio.create_task(flusher.run())
    worker = await in_thread(make_worker)
    shop = Shop(worker, database, flusher, ControlDesk(database), draining=lambda: False, patience_s=5)
    await drive(str(undo.public_id), shop)
    assert file.read_text() == "hello"
    await in_thread(_approve, cast, undo)
    await drive(str(undo.public_id), shop)
    database.close()

    assert not file.exists()
    outcome, kinds, told = await in_thread(_story, undo)
    assert outcome == "answered" and "ApprovalRequested" in kinds and kinds.count("ToolStarted") == 1
    assert told == "I undo what write_file did (a.txt). This is done at my click, not by you."
    again = await in_thread(selectors.call_for, cast.owner, call.public_id)
    assert again.undone_at is not None and not (await in_thread(call_card, again, {})).may_undo
    showing.cancel()
    await close_connections()


def _approve(cast: Cast, run: Run) -> None:
    approval = selectors.approval_for(cast.owner, run.approvals.get().public_id)
    decisions.decide(user=cast.owner, approval=approval, decision="approve", digest=approval.digest)


def _story(run: Run) -> tuple[str, list[str], str]:
    row = Run.objects.get(pk=run.pk)
    said = [message.text for message in transcripts.load(row)[0].messages if not isinstance(message, AssistantMessage)]
    assert json.loads(row.snapshot.data)["model"]["call"]["name"] == "restore_file"
    return row.outcome, list(row.events.order_by("number").values_list("kind", flat=True)), said[-1]
