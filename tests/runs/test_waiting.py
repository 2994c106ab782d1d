"""What waits for whom: approvals, questions, and calls that only people can settle."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentweb.runs import answers, services
from agentweb.runs.models import Call
from agentweb.runs.selectors import run_for
from agentweb.runs.waiting import calls_waiting_for, waiting_count
from agentweb.ui.listing import listing
from tests.chat.views.person import browser, html_of, text_of
from tests.runs.lost_call import suspended_calls, unknown_call
from tests.runs.waiting_call import waiting_approvals
from tests.runs.waiting_question import waiting_question

pytestmark = pytest.mark.django_db


def test_everything_that_waits_is_counted_at_once(cast):
    waiting_question(cast, cast.run())
    waiting_approvals(cast, cast.builder_run())
    unknown_call(cast, cast.builder_run())
    suspended_calls(cast, cast.builder_run(), 2)
    with CaptureQueriesContext(connection) as queries:
        assert waiting_count(cast.owner) == 5
    assert len(queries) == 1
    assert waiting_count(cast.admin) == 5
    assert [waiting_count(person) for person in (cast.member, cast.reviewer, cast.stranger)] == [0, 0, 0]


def test_a_shared_call_waits_for_the_whole_team_but_for_no_reviewer(cast):
    unknown_call(cast, cast.builder_run(visibility="team"))
    people = (cast.owner, cast.member, cast.admin, cast.reviewer, cast.stranger)
    assert [calls_waiting_for(person).count() for person in people] == [1, 1, 1, 0, 0]


def answered(cast, call: Call) -> None:
    answers.resolve(user=cast.owner, call=call, outcome="done")


def cancelled(cast, call: Call) -> None:
    services.cancel_run(user=cast.owner, run=run_for(cast.owner, call.run.public_id))


@pytest.mark.parametrize("change", [answered, cancelled])
def test_what_nobody_has_to_say_any_more_waits_for_nobody(cast, change):
    change(cast, unknown_call(cast, cast.builder_run()))
    assert waiting_count(cast.owner) == 0


def test_the_inbox_shows_such_calls_first_with_their_forms(cast):
    waiting_approvals(cast, cast.builder_run())
    lost = unknown_call(cast, cast.builder_run())
    asked = suspended_calls(cast, cast.builder_run())[0]
    page = browser(cast.owner).get("/approvals/")
    words, html = text_of(page), html_of(page)
    places = [words.index(part) for part in ("What became of this call?", "waits for a result", "Approval wanted")]
    assert places == sorted(places)
    for call in (lost, asked):
        assert f'href="/c/{call.run.conversation.public_id}/#call-{call.public_id}"' in html
    assert "3 wait for you" in words
    assert "What became of this call?" not in text_of(browser(cast.reviewer).get("/approvals/"))


def test_the_number_of_queries_does_not_grow_with_what_waits(cast):
    counts = []
    for _round in range(2):
        unknown_call(cast, cast.builder_run())
        suspended_calls(cast, cast.builder_run(), 2)
        waiting_approvals(cast, cast.builder_run(), 2)
        with CaptureQueriesContext(connection) as queries:
            browser(cast.owner).get("/approvals/")
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_the_list_of_what_waits_holds_their_conversations(cast):
    lost, asked = unknown_call(cast, cast.builder_run()), suspended_calls(cast, cast.builder_run())[0]
    cast.run()
    shown = [row.conversation for row in listing(cast.owner, show="waiting").rows]
    assert shown == [asked.run.conversation, lost.run.conversation]
    answered(cast, lost)
    assert [row.conversation for row in listing(cast.owner, show="waiting").rows] == [asked.run.conversation]


@pytest.mark.parametrize(
    ("wait", "words"),
    [
        (waiting_approvals, "Waiting for approval"),
        (waiting_question, "Waiting for a decision"),
        (suspended_calls, "Waiting for input"),
        (unknown_call, "Waiting: the outcome of a tool is unknown"),
    ],
)
def test_lists_say_for_what_a_run_waits_as_its_footer_does(cast, wait, words):
    run = cast.builder_run()
    wait(cast, run)
    assert [row.state.word for row in listing(cast.owner).rows] == [words]
    assert words in text_of(browser(cast.owner).get(f"/cards/run/{run.public_id}"))
    assert words in text_of(browser(cast.reviewer).get("/audit/"))


def test_an_answer_in_the_inbox_leads_back_to_it(cast):
    lost = unknown_call(cast, cast.builder_run())
    said = browser(cast.owner).post(f"/calls/{lost.public_id}/resolution", {"outcome": "done", "back": "inbox"})
    assert said.url == "/approvals/"
