"""The card of a question about a run: where it stands, what it says, and what its buttons do."""

import pytest
from django.utils import translation

from agentweb.engine.enums import Question
from agentweb.runs.models import Approval, Run
from agentweb.ui.questions import quantity
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
    assert page.index("Working.") < page.index(TITLE) < page.rindex("Waiting for a decision")


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


# --- about budgets ---------------------------------------------------------------------------------------------------

FACTS = {
    "budget": "1",
    "pot": "p",
    "unit": "tokens",
    "limit": "20000",
    "spent": "16500",
    "next": "1200",
    "turns": 2,
    "name": "Monthly",
    "whose": "Team A",
}


OFFER = {"amount": 5000, "compact": False, "cheaper": False}


def budget_question(cast, admins: bool = False, **facts) -> Approval:
    return waiting_question(cast, cast.run(), Question.BUDGET, FACTS | facts, {"amount": 5000}, admins=admins)


@pytest.mark.parametrize(
    ("facts", "outlook"),
    [
        (
            {},
            "The next turn will take about 1,200 tokens. What is left is enough for about 2 more turns.",
        ),
        ({"turns": 0}, "The next turn will take about 1,200 tokens. That is more than what is left."),
        ({"turns": None}, "are spent. More tokens"),
    ],
)
def test_it_says_how_it_stands_with_the_budget_and_what_comes_next(cast, facts, outlook):
    words = text_of(browser(cast.owner).get(f"/cards/question/{budget_question(cast, **facts).public_id}"))
    assert "Of the budget “Monthly” (Team A) 16,500 of 20,000 tokens are spent." in words
    assert outlook in words
    assert "Go on with so much more Finish now" in words


@pytest.mark.parametrize(
    ("amount", "status", "shown"),
    [("5000", "approved", "5,000 tokens more"), ("", "approved", "5,000"), ("7000", "modified", "7,000 tokens more")],
)
def test_the_amount_on_the_card_is_what_is_granted(cast, amount, status, shown):
    question = budget_question(cast)
    response = browser(cast.owner).post(address(question), answer(question, amount=amount), headers=HTMX)
    question.refresh_from_db()
    assert (response.status_code, question.status) == (200, status)
    assert question.final_arguments == {"amount": int(amount or 5000)}
    assert shown in text_of(response)


def test_older_messages_may_be_folded_first_and_a_cheaper_model_chosen(cast):
    question = waiting_question(cast, cast.run(), Question.BUDGET, FACTS | {"cheaper": "small"}, OFFER)
    words = text_of(browser(cast.owner).get(f"/cards/question/{question.public_id}"))
    assert "Fold older messages first, so that each turn costs less Go on with the cheaper model small" in words
    said = browser(cast.owner).post(
        address(question), answer(question, amount="5000", compact="yes", cheaper="yes"), headers=HTMX
    )
    assert "5,000 tokens more · older messages are folded first · with the cheaper model" in text_of(said)
    question.refresh_from_db()
    assert (question.status, question.final_arguments) == (
        "modified",
        {"amount": 5000, "compact": True, "cheaper": True},
    )


@pytest.mark.parametrize(("amount", "words"), [("lots", "Enter a number."), ("-1", "0")])
def test_what_is_no_amount_is_told_beside_the_field(cast, amount, words):
    question = budget_question(cast)
    response = browser(cast.owner).post(address(question), answer(question, amount=amount, comment="so"), headers=HTMX)
    assert response.status_code == 422
    assert f'id="amount-error-{question.public_id}"' in html_of(response)
    assert words in text_of(response)
    assert f'value="{amount}"' in html_of(response)


def test_a_question_for_admins_says_so_to_others(cast):
    question = budget_question(cast, admins=True)
    words = text_of(browser(cast.owner).get(f"/cards/question/{question.public_id}"))
    assert "An admin of the team decides about this." in words
    assert "Finish now" not in words
    assert browser(cast.owner).post(address(question), answer(question)).status_code == 403
    assert browser(cast.admin).post(address(question), answer(question), headers=HTMX).status_code == 200


@pytest.mark.parametrize(
    ("amount", "unit", "shown"),
    [
        ("1", "tokens", "1 tokens"),
        ("1234567", "tokens", "1,234,567 tokens"),
        ("0.05", "cost", "0.05 (cost)"),
        ("0.00000125", "cost", "0.000001 (cost)"),
        ("90.5", "seconds", "90.5 seconds of work"),
    ],
)
def test_amounts_are_written_with_their_unit(amount, unit, shown):
    with translation.override("en"):
        assert quantity(amount, unit) == shown
