"""Handing an approval to somebody else, and others who may decide when nobody has for a while."""

from datetime import timedelta

import pytest
from django.utils import timezone

from agentweb.engine.terms import Circle, Later, Terms
from agentweb.runs import asking, decisions, delegating
from agentweb.runs.errors import Conflict, Forbidden, Invalid
from agentweb.runs.models import Approval, Decider, Delegation, Run
from agentweb.runs.selectors import approval_for
from agentweb.runs.waiting import waiting_count
from tests.cast import Cast
from tests.chat.views.person import browser, hidden_value, text_of
from tests.runs.test_deciders import PEOPLE, asked, may_approve, named

ADMINS = Terms(circles=(Circle(role="admin"),))
HOUR = timedelta(hours=1)


def hand(cast: Cast, approval: Approval, by: str, to: str) -> Approval:
    person = cast.person(by)
    return delegating.hand_over(user=person, approval=approval_for(person, approval.public_id), to=to, comment="please")


def waits_for(cast: Cast) -> list[str]:
    return [name for name in PEOPLE if waiting_count(cast.person(name))]


@pytest.mark.parametrize(
    ("terms", "by", "to", "left"),
    [
        pytest.param(ADMINS, "admin", "member", ["member"], id="of those who are named"),
        pytest.param(None, "owner", "reviewer", ["member", "admin", "reviewer"], id="of an approval without terms"),
        pytest.param(Terms(apart=True), "admin", "reviewer", ["member", "reviewer"], id="kept apart from who asked"),
    ],
)
def test_who_takes_over_decides_in_the_others_place(cast, terms, by, to, left):
    approval = asked(cast, terms)
    seen = hand(cast, approval, by, to)
    assert (seen.may_decide, str(seen.why_not)) == (False, "handed_over")
    assert may_approve(cast, approval) == waits_for(cast) == left
    person = cast.person(to)
    decided = decisions.decide(
        user=person, approval=approval_for(person, approval.public_id), decision="approve", digest="digest"
    )
    assert decided.decided_by == person


@pytest.mark.parametrize(
    ("terms", "visibility", "by", "to"),
    [
        pytest.param(ADMINS, "team", "admin", "stranger", id="a stranger"),
        pytest.param(ADMINS, "private", "admin", "member", id="somebody who does not see the conversation"),
        pytest.param(ADMINS, "team", "admin", "admin", id="oneself"),
        pytest.param(ADMINS, "team", "admin", "nobody", id="nobody"),
        pytest.param(None, "team", "owner", "member", id="somebody who may decide already"),
        pytest.param(Terms(circles=(Circle(role="admin"),), apart=True), "team", "admin", "owner", id="who asked"),
    ],
)
def test_to_whom_it_cannot_be_handed(cast, terms, visibility, by, to):
    approval = asked(cast, terms, visibility)
    with pytest.raises(Invalid):
        hand(cast, approval, by, to)
    assert not Delegation.objects.exists()


def test_it_goes_on_from_hand_to_hand_and_never_back(cast):
    approval = asked(cast, ADMINS)
    hand(cast, approval, "admin", "member")
    with pytest.raises(Invalid):
        hand(cast, approval, "member", "admin")
    hand(cast, approval, "member", "owner")
    assert may_approve(cast, approval) == ["owner"]
    with pytest.raises(Forbidden):
        hand(cast, approval, "member", "reviewer")


def test_nobody_gets_a_second_vote_by_handing_over(cast):
    approval = asked(cast, Terms(circles=(Circle(people=named(cast.owner, cast.member)),), needed=2))
    person = approval_for(cast.owner, approval.public_id)
    decisions.decide(user=cast.owner, approval=person, decision="approve", digest="digest")
    with pytest.raises(Forbidden):
        hand(cast, approval, "owner", "reviewer")
    hand(cast, approval, "member", "reviewer")
    assert may_approve(cast, approval) == ["reviewer"]


def test_who_hands_over_and_approves_from_a_card_read_before_has_one_say(cast):
    two = Terms(circles=(Circle(people=named(cast.owner, cast.admin)),), needed=2)
    for terms in (two, None):
        approval = asked(cast, terms)
        before = approval_for(cast.owner, approval.public_id)
        hand(cast, approval, "owner", "reviewer")
        with pytest.raises(Forbidden):
            decisions.decide(user=cast.owner, approval=before, decision="approve", digest="digest")
        assert not approval.votes.exists()

    approval = asked(cast, two)
    before = approval_for(cast.owner, approval.public_id)
    decisions.decide(
        user=cast.owner, approval=approval_for(cast.owner, approval.public_id), decision="approve", digest="digest"
    )
    with pytest.raises(Forbidden):
        delegating.hand_over(user=cast.owner, approval=before, to="reviewer")


def test_a_role_that_was_lost_since_the_card_was_read_decides_nothing(cast):
    approval = asked(cast, ADMINS)
    before = approval_for(cast.admin, approval.public_id)
    cast.admin.memberships.update(role="member")
    with pytest.raises(Forbidden):
        decisions.decide(user=cast.admin, approval=before, decision="approve", digest="digest")


def test_what_is_decided_cannot_be_handed_over(cast):
    approval = asked(cast, ADMINS)
    seen = approval_for(cast.admin, approval.public_id)
    decisions.decide(
        user=cast.admin, approval=approval_for(cast.admin, approval.public_id), decision="reject", digest="digest"
    )
    with pytest.raises(Conflict):
        delegating.hand_over(user=cast.admin, approval=seen, to="member")


def test_when_who_took_over_is_gone_admins_may_decide(cast):
    approval = asked(cast, Terms(circles=(Circle(people=named(cast.owner)),)))
    hand(cast, approval, "owner", "member")
    cast.member.memberships.all().delete()
    approval.terms.__class__.objects.update(checked_at=None)
    assert asking.look_for_stranded() == 1
    assert may_approve(cast, approval) == ["admin"]


def test_the_page_offers_those_who_could_and_shows_what_was_done(cast):
    approval = asked(cast, ADMINS)
    page, address = browser(cast.admin), f"/approvals/{approval.public_id}/delegate"
    offered = page.get(address)
    assert "member" in text_of(offered)
    assert "stranger" not in text_of(offered)
    assert page.post(address, {"to": ""}).status_code == 422
    sent = {"to": "member", "comment": "on leave", "csrfmiddlewaretoken": hidden_value(offered, "csrfmiddlewaretoken")}
    card = page.post(address, sent, headers={"HX-Request": "true"})
    assert "admin has handed it over to member" in text_of(card)
    assert "on leave" in text_of(card)
    assert "You have handed this over to somebody else." in text_of(card)
    assert browser(cast.member).get(address).status_code == 200
    assert browser(cast.owner).get(address).status_code == 403


# --- others, after a while ------------------------------------------------------------------------------------------


def test_after_a_while_others_may_as_well_and_are_told_once(cast):
    approval = asked(
        cast, Terms(circles=(Circle(role="admin", later=Later(30, "reviewer", None, named(cast.member))),))
    )
    assert may_approve(cast, approval) == waits_for(cast) == ["admin"]
    card = text_of(browser(cast.owner).get(f"/cards/call/{approval.call.public_id}"))
    assert "May decide as well, if nobody has: reviewers of the team, member" in card
    assert asking.escalate() == 0
    Decider.objects.exclude(from_at=None).update(from_at=timezone.now() - HOUR)
    assert may_approve(cast, approval) == waits_for(cast) == ["member", "admin", "reviewer"]
    Approval.objects.update(noticed_at=timezone.now())
    assert [asking.escalate() for _ in range(2)] == [1, 0]
    assert Approval.objects.get().noticed_at is None  # so people are reminded by mail anew
    card = text_of(browser(cast.owner).get(f"/cards/call/{approval.call.public_id}"))
    assert "May decide as well, since nobody has: reviewers of the team, member" in card


def test_others_may_join_whoever_may_write_there(cast):
    approval = asked(cast, Terms(circles=(Circle(later=Later(30, "reviewer")),)))
    assert may_approve(cast, approval) == waits_for(cast) == ["owner", "member", "admin"]
    begins = Decider.objects.get(role="reviewer").from_at
    assert begins == Run.objects.get().events.get(kind="ApprovalRequested").at + HOUR / 2
    Decider.objects.exclude(from_at=None).update(from_at=timezone.now() - HOUR)
    assert may_approve(cast, approval) == waits_for(cast) == ["owner", "member", "admin", "reviewer"]


def test_nobody_is_told_of_what_is_decided(cast):
    approval = asked(cast, Terms(circles=(Circle(role="admin", later=Later(30, "reviewer")),)))
    decisions.decide(
        user=cast.admin, approval=approval_for(cast.admin, approval.public_id), decision="approve", digest="digest"
    )
    Decider.objects.exclude(from_at=None).update(from_at=timezone.now() - HOUR)
    assert asking.escalate() == 0
