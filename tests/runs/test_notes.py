"""What the system itself says to the model is part of the conversation: for the model, for people and in the record."""

from uuid import uuid4

import pytest

from agentweb.engine import enums, events
from agentweb.engine.messages import AssistantMessage, ToolCall, ToolResult, UserMessage
from agentweb.engine.usage import Usage
from agentweb.runs import journal, transcripts
from agentweb.runs.models import Message, Run
from tests.cast import make_worker
from tests.runs.replayed import replayed

pytestmark = pytest.mark.django_db

DONE = events.RunFinished(enums.Outcome.ANSWERED, enums.Reason.DONE, "Answered.", Usage())


def noted(run: Run) -> str:
    """The id of a note that the run gave in its first turn, before it answered."""
    holder = journal.claim(str(run.public_id), make_worker(f"w{uuid4().hex[:6]}"))
    assert holder is not None
    note, message = str(uuid4()), str(uuid4())
    told = events.NoteAdded(note, 1, enums.NoteKind.CIRCLES, "Try another way.")
    journal.append(holder, (events.TurnStarted(1), told, events.ModelRequested(message, 1, 1, "scripted", "d")))
    said = events.MessageFinished(AssistantMessage(message, "Done."), Usage())
    journal.append(holder, (said, events.TurnFinished(1), DONE))
    return note


def test_a_note_is_read_by_the_model_where_it_was_given(cast):
    run = cast.run()
    note = noted(run)
    run.refresh_from_db()
    transcript, _usage = transcripts.load(run)
    assert transcript.messages[1] == UserMessage(note, "Try another way.", about=enums.NoteKind.CIRCLES)
    assert transcript.began == 1
    assert transcript == replayed(run)


def test_a_run_that_is_tried_again_knows_where_it_began(cast):
    first = cast.run()
    noted(first)
    second = Run(
        conversation=first.conversation, agent=first.agent, requested_by=first.requested_by, snapshot=first.snapshot
    )
    question = first.messages.get(role=Message.Role.USER)
    journal.start(second, (events.RunStarted(str(question.public_id), "Assistant", "scripted", 10, "d"),))
    transcript, _usage = transcripts.load(second)
    assert [message.text for message in transcript.messages] == ["What is the date today?", "Try another way."]
    assert transcript.began == 2
    assert transcript == replayed(second)


def test_what_extensions_asked_for_is_known_to_the_next_worker(cast):
    run = cast.run()
    holder = journal.claim(str(run.public_id), make_worker())
    message, note, call = (str(uuid4()) for _ in range(3))
    said = AssistantMessage(message, "Hm", "", (ToolCall(call, "weather", {"city": "Rome"}, "{}"),))
    told = events.NoteAdded(note, 1, enums.NoteKind.EXTENSION, "Are you sure?", "critic", "doubt")
    journal.append(
        holder, (events.TurnStarted(1), events.ModelRequested(message, 1, 1, "scripted", "d"), finished(said))
    )
    journal.append(holder, (events.ArgumentsRewritten(call, "weather", "scrub", {"city": "Milan"}),))
    assert transcripts.load(run)[0].calls[call].runs_with == {"city": "Milan"}
    closed = ToolResult(call, "Not run.", enums.ResultKind.NOT_RUN)
    again = events.ThinkAgainRequested(1, "critic")
    stop = events.StopRequested(enums.StopAfter.ACTING, "guard")
    journal.append(holder, (events.ToolFinished(call, "weather", closed), told, again, stop))

    run.refresh_from_db()
    transcript, _usage = transcripts.load(run)

    assert (transcript.thought_again, transcript.replied, transcript.turn_open) == (1, False, True)
    assert transcript.stop == stop
    assert transcript.messages[-1] == UserMessage(note, "Are you sure?", about=enums.NoteKind.EXTENSION, key="doubt")
    assert transcript == replayed(run)
    second = str(uuid4())
    journal.append(holder, (events.ModelRequested(second, 1, 1, "scripted", "d"),))
    assert transcripts.load(run)[0].streaming == second
    assert transcripts.load(run)[0] == replayed(run)


def finished(said: AssistantMessage) -> events.MessageFinished:
    return events.MessageFinished(said, Usage())
