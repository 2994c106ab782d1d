"""The card of a question about a run: where it stands, what it says, and what its buttons do."""

import pytest

from agentweb.runs.models import Approval, Run
from tests.chat.views.person import HTMX, browser, html_of, text_of
from tests.runs.waiting_question import waiting_question

TITLE = "The agent repeats itself: may it go on?"
WORDS = "It repeats the same call, also after it was told to stop: read_file a.txt"


def address(question: Approval) -> str:
    return f"/questions/{question.public_id}/decide"


def answer(question: Approval, decision: str = "approve", **fields: str) -> dict[str, str]:
    return {"decision": decision, "digest": question.digest, **fields}


def test_it_stands_in_the_conversation_and_in_the_inbox(cast):
    run = cast.run()
    question = waiting_question(cast, run)
    for place in (f"/c/{run.conversation.public_id}/", "/approvals/", f"/cards/question/{question.public_id}"):
        words = text_of(browser(cast.owner).get(place))
        assert f"{TITLE} {WORDS}" in words, place
        assert "Let it go on Finish now" in words, place
    page = text_of(browser(cast.owner).get(f"/c/{run.conversation.public_id}/"))
    assert page.index("Working.") < page.index(TITLE) < page.index("Waiting for a decision")


def test_who_may_only_look_gets_no_button(cast):
    question = waiting_question(cast, cast.run())
    words = text_of(browser(cast.reviewer).get(f"/cards/question/{question.public_id}"))
    assert "You may look at this question but not decide about it." in words
    assert "Finish now" not in words
    assert browser(cast.reviewer).post(address(question), answer(question)).status_code == 403
    assert browser(cast.stranger).get(f"/cards/question/{question.public_id}").status_code == 404


@pytest.mark.parametrize(("decision", "shown"), [("approve", "Goes on"), ("reject", "Sums up and ends")])
def test_a_decision_is_shown_on_the_card_with_its_author(cast, decision, shown):
    question = waiting_question(cast, cast.run())
    response = browser(cast.owner).post(
        address(question), answer(question, decision, comment="Look at b"), headers=HTMX
    )
    assert response.status_code == 200
    assert shown in text_of(response)
    assert "Look at b" in text_of(response)
    assert "<form" not in html_of(response)
    assert Run.objects.get().status == Run.Status.QUEUED


def test_who_comes_too_late_sees_who_was_first(cast):
    question = waiting_question(cast, cast.run())
    browser(cast.admin).post(address(question), answer(question, "reject"))
    late = browser(cast.owner).post(address(question), answer(question), headers=HTMX)
    assert late.status_code == 409
    assert "admin has decided already: Rejected." in text_of(late)
    assert "Sums up and ends" in text_of(late)


def test_without_scripts_the_answer_leads_back(cast):
    question = waiting_question(cast, cast.run())
    conversation = question.run.conversation.public_id
    wrong = browser(cast.owner).post(address(question), answer(question, "respond", comment="<b>typed</b>"))
    assert wrong.status_code == 422
    assert "&lt;b&gt;typed&lt;/b&gt;</textarea>" in html_of(wrong)
    back = browser(cast.owner).post(address(question), answer(question))
    assert back["Location"] == f"/c/{conversation}/#question-{question.public_id}"


def test_the_pages_of_calls_know_no_questions(cast):
    question = waiting_question(cast, cast.run())
    for place in (f"/approvals/{question.public_id}/decide", f"/approvals/{question.public_id}/modify"):
        assert browser(cast.owner).post(place, answer(question)).status_code == 404
