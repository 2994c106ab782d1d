"""The footer of a run, which a page fetches after every step of it."""

import re
from collections.abc import Callable
from uuid import uuid4

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentweb.engine import events
from agentweb.engine.enums import Outcome, Reason
from agentweb.engine.messages import AssistantMessage, ToolCall, ToolResult
from agentweb.engine.usage import Usage
from agentweb.runs import journal, services
from agentweb.runs.models import Run
from tests.cast import Cast, make_worker
from tests.chat.views.person import HTMX, browser, html_of, text_of
from tests.runs.lost_call import suspended_calls, unknown_call
from tests.runs.waiting_call import waiting_approvals
from tests.runs.waiting_question import waiting_question

FOOTER = re.compile(r"<footer.*</footer>", re.DOTALL)
SECRET = re.compile(r'name="csrfmiddlewaretoken" value="[^"]*"')


def calling(_cast: Cast, run: Run, turns: int = 1) -> journal.Claimed:
    """A tool runs; in each turn before it one has finished."""
    holder = journal.claim(str(run.public_id), make_worker())
    assert holder is not None
    for turn in range(1, turns + 1):
        message, call = str(uuid4()), str(uuid4())
        said = AssistantMessage(message, "I look.", "", (ToolCall(call, "weather", {}, "{}"),))
        journal.append(holder, (events.TurnStarted(turn), events.ModelRequested(message, turn, 1, "scripted", "d")))
        journal.append(holder, (events.MessageFinished(said, Usage()), events.ToolStarted(call, "weather", {})))
        if turn < turns:
            done = events.ToolFinished(call, "weather", ToolResult(call, "Sunny"))
            journal.append(holder, (done, events.TurnFinished(turn)))
    return holder


def limited(cast: Cast, run: Run) -> None:
    end = events.RunFinished(Outcome.LIMIT_REACHED, Reason.TURNS, "limit", Usage(input_tokens=3, output_tokens=4))
    journal.append(calling(cast, run), (end,))


def cancelled(cast: Cast, run: Run) -> None:
    """What was queued goes back to its author."""
    calling(cast, run)
    services.send_message(user=cast.owner, conversation=run.conversation, text="And tomorrow?")
    services.cancel_run(user=cast.owner, run=run)


def queued_for(wait: Callable[[Cast, Run], object]) -> Callable[[Cast, Run], object]:
    def waits_with_a_message(cast: Cast, run: Run) -> None:
        wait(cast, run)
        services.send_message(user=cast.owner, conversation=run.conversation, text="And tomorrow?")

    return waits_with_a_message


@pytest.mark.parametrize(
    ("become", "words"),
    [
        (lambda *_: None, "Queued"),
        (calling, "Running tool: Weather"),
        (waiting_approvals, "Waiting for approval"),
        (waiting_question, "Waiting for a decision"),
        (queued_for(waiting_question), "as soon as the question above is answered"),
        (suspended_calls, "Waiting for input"),
        (unknown_call, "the outcome of a tool is unknown"),
        (queued_for(unknown_call), "as soon as the calls above have their results"),
        (limited, "Continue with"),
        (cancelled, "And tomorrow?"),
    ],
)
def test_it_says_by_itself_what_it_says_below_the_whole_run(cast, become, words):
    run = cast.run()
    become(cast, run)
    client = browser(cast.owner)
    address = f"/cards/run/{run.public_id}"
    alone, below = (
        [SECRET.sub("", found) for found in FOOTER.findall(html_of(client.get(address + query, headers=HTMX)))]
        for query in ("", "?part=section")
    )
    assert alone == below
    assert words in alone[0]


def test_it_says_which_turn_this_is_as_long_as_the_run_goes_on(cast):
    run, client, most = cast.run(), browser(cast.owner), f"of {cast.agent.max_turns}"

    def words() -> str:
        return text_of(client.get(f"/cards/run/{run.public_id}", headers=HTMX))

    assert most not in words(), "it has not begun"
    calling(cast, run, 2)
    assert f"turn 2 {most}" in words() and "2 turns" not in words()
    Run.objects.filter(pk=run.pk).update(status="finished", outcome="cancelled", model_calls=2)
    assert "2 turns" in words() and most not in words()


def test_it_takes_as_much_work_after_many_turns_as_after_one(cast):
    client = browser(cast.owner)
    asked = []
    for turns in (1, 12):
        run = cast.run()
        calling(cast, run, turns)
        client.get(f"/cards/run/{run.public_id}", headers=HTMX)
        with CaptureQueriesContext(connection) as queries:
            client.get(f"/cards/run/{run.public_id}", headers=HTMX)
        asked.append([query["sql"] for query in queries])
    assert 0 < len(asked[0]) == len(asked[1])
    assert not any('"runs_message"' in sql for sql in asked[1])
