"""How long people may decide, and what becomes of it when they do not."""

from datetime import timedelta

import pytest
from django.utils import timezone

from agentweb.engine.enums import Risk
from agentweb.engine.terms import Terms
from agentweb.runs import decisions, transcripts, upkeep
from agentweb.runs.errors import Conflict
from agentweb.runs.models import Approval, Event, Run
from agentweb.runs.selectors import approval_for
from agentweb.runs.waiting import approvals_waiting_for, inbox, waiting_count
from tests.chat.views.person import browser, html_of, text_of
from tests.runs.waiting_call import waiting_approvals

MINUTE = timedelta(minutes=1)


@pytest.fixture
def brief(cast) -> Approval:
    """An approval that may wait for ten minutes."""
    return waiting_approvals(cast, cast.builder_run(), terms=Terms(wait_minutes=10))[0]


def ends(approval: Approval, left: timedelta) -> None:
    Approval.objects.filter(pk=approval.pk).update(expires_at=timezone.now() + left)


def test_the_end_of_the_wait_is_set_when_people_are_asked(cast, brief):
    asked = Event.objects.get(kind="ApprovalRequested")
    assert brief.expires_at == asked.at + 10 * MINUTE
    assert waiting_approvals(cast, cast.builder_run())[0].expires_at is None


def test_who_decides_too_late_hears_so_before_any_sweep_and_nothing_changes(cast, brief):
    ends(brief, -MINUTE)
    with pytest.raises(Conflict) as refused:
        decisions.decide(user=cast.owner, approval=brief, decision="approve", digest="digest")
    assert refused.value.state["status"] == "expired"
    assert Run.objects.get().status == Run.Status.WAITING
    assert waiting_count(cast.owner) == 0


def test_the_sweep_closes_it_as_expired_and_the_run_takes_that_up(cast, brief):
    ends(brief, -MINUTE)
    assert [upkeep.expire_approvals() for _ in range(2)] == [1, 0]
    seen = approval_for(cast.owner, brief.public_id)
    assert (seen.status, seen.decided_by) == ("expired", None)
    run = Run.objects.get()
    entry = transcripts.load(run)[0].calls[str(brief.call.public_id)]
    assert (run.status, entry.expired, entry.decision) == ("queued", True, None)
    with pytest.raises(Conflict, match="over"):
        decisions.decide(user=cast.owner, approval=seen, decision="approve", digest="digest")


def test_a_decision_that_was_faster_than_the_sweep_stands(cast, brief):
    decisions.decide(user=cast.owner, approval=brief, decision="reject", digest="digest", comment="no")
    ends(brief, -MINUTE)
    assert upkeep.expire_approvals() == 0
    assert Approval.objects.get().status == "rejected"


def test_the_inbox_is_sorted_by_risk_and_then_by_the_time_left(cast):
    run = cast.builder_run()
    calm, soon, later = waiting_approvals(cast, run, 3)
    high = waiting_approvals(cast, cast.builder_run(), risk=Risk.HIGH)[0]
    ends(soon, 5 * MINUTE)
    ends(later, 50 * MINUTE)
    assert inbox(cast.owner, 10)[0] == [high, soon, later, calm]
    assert inbox(cast.owner, 2)[0] == [high, soon]
    ends(soon, -MINUTE)
    assert soon not in approvals_waiting_for(cast.owner)


@pytest.mark.parametrize(
    ("left", "words"),
    [
        (30 * MINUTE, "29 minutes left to decide"),
        (MINUTE - timedelta(seconds=1), "Less than a minute left to decide"),
        (5 * 60 * MINUTE, "4 hours left to decide"),
        (5 * 24 * 60 * MINUTE, "4 days left to decide"),
        (-MINUTE, "The time to decide is over."),
    ],
)
def test_the_card_says_how_much_time_is_left(cast, brief, left, words):
    ends(brief, left)
    card = browser(cast.owner).get(f"/cards/call/{brief.call.public_id}")
    assert words in text_of(card)
    assert ("<time" in html_of(card), "Approve" in text_of(card)) == (left > MINUTE * 0, left > MINUTE * 0)


def test_arguments_cannot_be_changed_when_the_time_is_over(cast, brief):
    ends(brief, -MINUTE)
    assert browser(cast.owner).get(f"/approvals/{brief.public_id}/modify").status_code == 409
