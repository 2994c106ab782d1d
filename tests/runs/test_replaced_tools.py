"""A call that another tool answers, from the event to the rows, the transcript, the card and the API."""

from uuid import uuid4

from agentweb.engine import enums, events
from agentweb.engine.messages import AssistantMessage, ToolCall, ToolResult
from agentweb.engine.usage import Usage
from agentweb.runs import journal, transcripts
from agentweb.runs.models import Call, Run
from agentweb.ui.calls import call_card, labels
from tests.cast import make_worker


def told(call: str, text: str, kind=enums.ResultKind.OK) -> ToolResult:
    return ToolResult(call, text, kind)


def replaced_call(run: Run) -> tuple[journal.Claimed, str]:
    """The weather has failed twice, and reading a file is to answer instead."""
    holder = journal.claim(str(run.public_id), make_worker())
    assert holder is not None
    message, call = str(uuid4()), ToolCall(str(uuid4()), "weather", {"city": "Rome"}, "{}")
    said = AssistantMessage(message, "I look.", "", (call,), enums.Finish.TOOL_CALLS)
    journal.append(holder, (events.TurnStarted(1), events.ModelRequested(message, 1, 1, "scripted", "d")))
    journal.append(holder, (events.MessageFinished(said, Usage()), events.ToolStarted(call.id, "weather", {})))
    failure = told(call.id, "Out of order.", enums.ResultKind.ERROR)
    journal.append(holder, (events.ToolReplaced(call.id, "weather", "read_file", failure, 1.5, 2),))
    return holder, call.id


def test_the_call_is_open_for_the_other_tool_and_the_model_asked_for_the_first(cast):
    holder, call = replaced_call(cast.run())
    entry = transcripts.load(Run.objects.get(pk=holder.run_id))[0].calls[call]
    assert (entry.call.name, entry.tool, entry.status) == ("weather", "read_file", enums.CallStatus.OPEN)
    assert [(each.tool, each.text) for each in entry.failures] == [("weather", "Out of order.")]


def test_the_card_says_in_words_how_the_result_came_about(cast):
    holder, call = replaced_call(cast.run())
    finished = events.ToolFinished(call, "read_file", told(call, "rain"), attempts=3)
    journal.append(holder, (events.ToolStarted(call, "read_file", {}), finished))
    row = Call.objects.get(public_id=call)
    card = call_card(row, labels([row]))
    assert card.label == "Read file"
    assert card.how == ["Weather (sample data) failed. Used instead: Read file.", "Done at attempt 3."]


def test_the_card_says_how_old_an_answer_is_that_was_kept(cast):
    holder, call = replaced_call(cast.run())
    journal.append(holder, (events.ToolFinished(call, "read_file", told(call, "rain"), kept_s=19.7),))
    row = Call.objects.get(public_id=call)
    assert call_card(row, {}).how[1:] == ["Answer of 20 s ago, kept: the tool did not run again."]
