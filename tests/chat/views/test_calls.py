"""Saying on the page what became of a call that was lost, and what a call from outside gave."""

import pytest

from agentweb.engine import events
from agentweb.engine.usage import Usage
from agentweb.runs import journal
from agentweb.runs.models import Call, CallAnswer, Run
from agentweb.runs.workspaces import folder
from agentweb.toolbox.former import Former
from tests.cast import make_worker
from tests.chat.views.person import HTMX, browser, html_of, text_of
from tests.runs.lost_call import suspended_calls, unknown_call


@pytest.fixture
def client(cast):
    return browser(cast.owner)


@pytest.fixture
def lost(cast):
    return unknown_call(cast, cast.builder_run(visibility="team"))


def say(client, call, outcome, headers=HTMX, **more):
    return client.post(f"/calls/{call.public_id}/resolution", {"outcome": outcome, **more}, headers=headers)


def test_the_card_offers_three_answers_to_those_who_may_decide(cast, client, lost):
    card = client.get(f"/cards/call/{lost.public_id}")
    assert "What became of this call?" in text_of(card)
    assert [f'value="{value}"' in html_of(card) for value in ("done", "not_done", "tell_model")] == [True] * 3
    seen = browser(cast.reviewer).get(f"/cards/call/{lost.public_id}")
    assert "What became of this call?" in text_of(seen)
    assert "<form" not in html_of(seen)


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("done", "It was done · owner"),
        ("not_done", "It was not done · owner"),
        ("tell_model", "Not known; the agent is told so · owner"),
    ],
)
def test_an_answer_is_taken_and_shown(client, lost, outcome, words):
    answer = say(client, lost, outcome, comment="I looked")
    assert answer.status_code == 200
    assert words in text_of(answer) and "I looked" in text_of(answer)
    assert "<form" not in html_of(answer)
    assert Run.objects.get().status == Run.Status.QUEUED


def test_what_was_typed_stays_when_the_answer_makes_no_sense(client, lost):
    answer = say(client, lost, "not_done", content="5 rows", comment="hm")
    assert answer.status_code == 422
    assert "only for a call that was done" in text_of(answer)
    assert "5 rows" in html_of(answer) and 'value="hm"' in html_of(answer)
    assert not CallAnswer.objects.exists()


def test_whoever_comes_second_sees_who_was_first(cast, client, lost):
    say(client, lost, "done")
    late = say(browser(cast.member), lost, "not_done")
    assert late.status_code == 409
    assert "owner was faster: It was done." in text_of(late)


def test_without_scripts_an_answer_leads_back(client, lost):
    answer = say(client, lost, "done", headers=None)
    assert answer.url == f"/c/{lost.run.conversation.public_id}/#call-{lost.public_id}"


@pytest.fixture
def asked(cast):
    return suspended_calls(cast, cast.builder_run(visibility="team"))[0]


def give(client, call, **data):
    return client.post(f"/calls/{call.public_id}/supply", data, headers=HTMX)


def test_a_suspended_call_says_what_it_waits_for_and_has_a_form(cast, client, asked):
    card = client.get(f"/cards/call/{asked.public_id}")
    assert "ask_city waits for a result from outside Which city?" in text_of(card)
    assert "Give the result" in text_of(card)
    seen = browser(cast.reviewer).get(f"/cards/call/{asked.public_id}")
    assert "Which city?" in text_of(seen) and "<form" not in html_of(seen)


def test_only_who_may_decide_is_shown_the_address_for_programs(cast, client, asked):
    assert "/api/v1/answers/" in html_of(client.get(f"/cards/call/{asked.public_id}"))
    assert "/api/v1/answers/" not in html_of(browser(cast.reviewer).get(f"/cards/call/{asked.public_id}"))


def test_a_result_is_taken_and_shown(client, asked):
    answer = give(client, asked, content="Rome")
    assert "Result given · owner" in text_of(answer)
    assert "<form" not in html_of(answer)
    assert Run.objects.get().status == Run.Status.QUEUED


def test_a_failure_can_be_reported(client, asked):
    assert "Failure reported · owner" in text_of(give(client, asked, content="no city", is_error="yes"))
    assert CallAnswer.objects.get().is_error


def test_an_empty_result_is_not_taken(client, asked):
    answer = give(client, asked, content=" ", is_error="yes")
    assert answer.status_code == 422
    assert "The result is empty." in text_of(answer)
    assert "checked" in html_of(answer)


def test_an_answer_of_a_certain_form_is_filled_in(cast, client):
    wanted = {"type": "object", "properties": {"days": {"type": "integer", "minimum": 1}}, "required": ["days"]}
    (call,) = suspended_calls(cast, cast.builder_run(), schema=wanted)
    assert 'name="argument:days"' in html_of(client.get(f"/cards/call/{call.public_id}"))
    wrong = give(client, call, **{"argument:days": "0"})
    assert wrong.status_code == 422 and 'value="0"' in html_of(wrong)
    assert "Must be 1 or more." in text_of(wrong)
    assert "Result given · owner" in text_of(give(client, call, **{"argument:days": "3"}))
    assert CallAnswer.objects.get().content == '{"days": 3}'


def test_why_there_is_no_answer_is_told_in_place_of_the_form(cast, client):
    (call,) = suspended_calls(cast, cast.builder_run(), schema={"type": "object", "properties": {"n": {}}})
    assert "There is no answer" in text_of(client.get(f"/cards/call/{call.public_id}"))
    assert "Failure reported · owner" in text_of(give(client, call, content="away", is_error="yes"))


def test_what_is_written_while_calls_wait_is_queued_and_explained(cast, client, asked):
    conversation = asked.run.conversation.public_id
    sent = client.post(f"/c/{conversation}/send", {"text": "and be quick"}, headers=HTMX)
    words = "The agent reads this as soon as the calls above have their results."
    assert words in text_of(sent) and "and be quick" in text_of(sent)
    assert Run.objects.get().status == Run.Status.WAITING


def test_a_held_run_shows_why_and_goes_on_at_a_click(cast, client):
    run = cast.run(visibility="team")
    holder = journal.claim(str(run.public_id), make_worker("w"))
    journal.append(holder, (events.RunPaused((), Usage(), lost=True),))
    footer = client.get(f"/cards/run/{run.public_id}")
    assert "Waiting: its worker was lost" in text_of(footer) and "Go on" in text_of(footer)
    assert "Go on" not in text_of(browser(cast.reviewer).get(f"/cards/run/{run.public_id}"))
    assert "Queued" in text_of(client.post(f"/runs/{run.public_id}/resume", headers=HTMX))
    assert client.post(f"/runs/{run.public_id}/resume", headers=HTMX).status_code == 409


def test_a_change_is_undone_at_a_click(cast, client):
    call = unknown_call(cast, cast.builder_run(visibility="team"))
    Call.objects.update(status="finished", result_kind="ok", result="Wrote a.txt.")
    Run.objects.update(status="finished", outcome="answered")
    assert "Undo" not in text_of(client.get(f"/cards/call/{call.public_id}"))
    Former(folder(str(call.run.conversation.public_id))).keeping(str(call.public_id), "a.txt")(None, b"hello")
    assert "Undo" in text_of(client.get(f"/cards/call/{call.public_id}"))
    assert "Undo" not in text_of(browser(cast.reviewer).get(f"/cards/call/{call.public_id}"))

    answer = client.post(f"/calls/{call.public_id}/undo", headers=HTMX)
    assert "I undo what write_file did (a.txt)." in text_of(answer)
    late = client.post(f"/calls/{call.public_id}/undo", headers=HTMX)
    assert late.status_code == 409 and "is at work" in text_of(late)
