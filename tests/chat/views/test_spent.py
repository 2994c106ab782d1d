"""What a run and its conversation have spent, turn by turn, for those who may see them."""

from decimal import Decimal

from agentweb.engine import events
from agentweb.engine.messages import AssistantMessage
from agentweb.engine.usage import Usage
from agentweb.runs import journal
from agentweb.runs.models import Run
from tests.cast import Cast, make_worker
from tests.chat.views.person import HTMX, browser, text_of

COUNTED = Usage(input_tokens=1200, cached_tokens=200, output_tokens=34, thinking_tokens=10, cost=Decimal("0.25"))
GUESSED = Usage(input_tokens=1300, output_tokens=40, cost=Decimal("0.5"), estimated_calls=1)


def two_turns(cast: Cast, model: str = "scripted") -> Run:
    """For the second of them nobody counted the tokens."""
    run = cast.run()
    holder = journal.claim(str(run.public_id), make_worker())
    for turn, usage in ((1, COUNTED), (2, GUESSED)):
        message = f"6a0f7b5e-0000-4000-8000-00000000000{turn}"
        journal.append(holder, (events.TurnStarted(turn), events.ModelRequested(message, turn, 1, model, "d")))
        journal.append(holder, (events.MessageFinished(AssistantMessage(message, "I look."), usage),))
    return Run.objects.get(pk=run.pk)


TURN_BY_TURN = (
    "Turn 1 tokens: 1,200 in (200 cached), 34 out 10 of them thinking cost 0.25 "
    "Turn 2 tokens: ≈ 1,300 in (0 cached), ≈ 40 out cost ≈ 0.5 "
    "The whole run tokens: ≈ 2,500 in (200 cached), ≈ 74 out ≈ 10 of them thinking cost ≈ 0.75 "
    "The whole conversation tokens: ≈ 2,500 in (200 cached), ≈ 74 out ≈ 10 of them thinking cost ≈ 0.75 "
    "The model's window after the last turn context ≈ 4 % of 32,000 "
    "≈ is an estimate"
)


def test_each_turn_the_run_and_the_conversation_are_listed_and_guesses_are_marked(cast):
    run = two_turns(cast)
    for headers in ({}, HTMX):
        assert TURN_BY_TURN in text_of(browser(cast.owner).get(f"/runs/{run.public_id}/spent", headers=headers))


def test_the_footer_marks_a_guess_and_leads_to_the_list_once_the_run_is_over(cast):
    run = two_turns(cast)
    address = f"/cards/run/{run.public_id}"
    assert "What was spent" not in text_of(browser(cast.owner).get(address, headers=HTMX))
    Run.objects.filter(pk=run.pk).update(status="finished", outcome="answered")
    words = text_of(browser(cast.owner).get(address, headers=HTMX))
    assert "tokens: ≈ 2,500 in (200 cached), ≈ 74 out" in words and "What was spent" in words


def test_programs_read_the_same(cast, client):
    run = two_turns(cast)
    client.force_login(cast.owner)
    told = client.get(f"/api/v1/conversations/{run.conversation.public_id}").json()["usage"]
    assert told == client.get(f"/api/v1/runs/{run.public_id}").json()["usage"]
    assert (told["cost"], told["input_tokens"], told["estimated_calls"]) == ("0.75000000", 2500, 1)


def test_nothing_is_said_of_a_window_whose_size_nobody_knows(cast):
    run = two_turns(cast, model="another one")
    assert "window" not in text_of(browser(cast.owner).get(f"/runs/{run.public_id}/spent", headers=HTMX))
