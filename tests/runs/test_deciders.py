"""Who may decide: the rule for a person, and that the database counts and lists by the same rule."""

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test.utils import CaptureQueriesContext

from agentweb.engine.enums import Risk
from agentweb.engine.terms import Circle, Named, Terms
from agentweb.runs import asking, decisions
from agentweb.runs.deciders import Why
from agentweb.runs.errors import Forbidden, NotFound
from agentweb.runs.models import Approval, ApprovalTerms, Message, Run
from agentweb.runs.selectors import approval_for, approvals_for, mark_decidable
from agentweb.runs.waiting import inbox, waiting_count
from agentweb.teams.models import User
from tests.cast import Cast
from tests.chat.views.person import browser, text_of
from tests.runs.waiting_call import waiting_approvals

PEOPLE = ("owner", "member", "admin", "reviewer", "stranger")
AUDITORS = "Auditors"


def named(*people: User) -> tuple[Named, ...]:
    return tuple(Named(user.pk, user.username) for user in people)


def group_of(*people: User) -> Named:
    group, _new = Group.objects.get_or_create(name=AUDITORS)
    group.user_set.set(people)
    return Named(group.pk, group.name)


def asked(cast: Cast, terms: Terms | None, visibility: str = "team", **more) -> Approval:
    return waiting_approvals(cast, cast.builder_run(visibility), terms=terms, **more)[0]


def may_approve(cast: Cast, approval: Approval) -> list[str]:
    """Who may, by the rule for a person."""
    found = []
    for name in PEOPLE:
        try:
            seen = approval_for(cast.person(name), approval.public_id)
        except NotFound:
            continue
        found += [name] if seen.may_decide else []
    return found


CASES = {
    "no terms": (lambda cast: None, "owner member admin"),
    "no terms, private": (lambda cast: None, "owner admin"),
    "only a wait": (lambda cast: Terms(5), "owner member admin"),
    "who asked": (lambda cast: Terms(circles=(Circle(requester=True),)), "owner"),
    "admins": (lambda cast: Terms(circles=(Circle(role="admin"),)), "admin"),
    "reviewers": (lambda cast: Terms(circles=(Circle(role="reviewer"),)), "reviewer"),
    "members": (lambda cast: Terms(circles=(Circle(role="member"),)), "owner member"),
    "a person": (lambda cast: Terms(circles=(Circle(people=named(cast.member)),)), "member"),
    "a person who cannot see it": (
        lambda cast: Terms(circles=(Circle(people=named(cast.stranger, cast.owner)),)),
        "owner",
    ),
    "a group": (lambda cast: Terms(circles=(Circle(group=group_of(cast.member, cast.stranger)),)), "member"),
    "any of several": (
        lambda cast: Terms(circles=(Circle(True, "admin", None, named(cast.reviewer)),)),
        "owner admin reviewer",
    ),
    "in both": (
        lambda cast: Terms(circles=(Circle(role="member"), Circle(group=group_of(cast.member, cast.admin)))),
        "member",
    ),
    "not who asked": (lambda cast: Terms(apart=True), "member admin"),
    "members, not who asked": (lambda cast: Terms(circles=(Circle(role="member"),), apart=True), "member"),
    "nobody is in both": (lambda cast: Terms(circles=(Circle(role="member"), Circle(role="reviewer"))), "admin"),
    "nobody is left": (lambda cast: Terms(circles=(Circle(people=named(cast.stranger)),)), "admin"),
    "not so many are there": (
        lambda cast: Terms(circles=(Circle(people=named(cast.member)),), needed=2),
        "member admin",
    ),
    "no such person": (lambda cast: Terms(circles=(Circle(people=(Named(10**9, "gone"),)),)), "admin"),
    "no such group": (lambda cast: Terms(circles=(Circle(group=Named(10**9, "gone")),)), "admin"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_person_may_decide_and_it_waits_for_them_by_the_same_rule(cast, case):
    terms, expected = CASES[case]
    approval = asked(cast, terms(cast), "private" if "private" in case else "team")
    assert may_approve(cast, approval) == expected.split()
    assert [name for name in PEOPLE if waiting_count(cast.person(name))] == expected.split()
    assert {person.username for person in asking.who_may(approval)} == set(expected.split())


def test_lists_and_the_inbox_hold_what_is_counted(cast):
    admins, members = (asked(cast, Terms(circles=(Circle(role=role),))) for role in ("admin", "member"))
    assert inbox(cast.admin, 10)[0] == [admins]
    marked = mark_decidable(cast.admin, approvals_for(cast.admin))
    assert {row: row.may_decide for row in marked} == {admins: True, members: False}


@pytest.mark.parametrize(
    ("terms", "who", "why", "may_reject"),
    [
        pytest.param(Terms(circles=(Circle(role="admin"),)), "member", Why.NOT_NAMED, False, id="not named"),
        pytest.param(Terms(circles=(Circle(role="admin"),)), "owner", Why.NOT_NAMED, True, id="who asked may withdraw"),
        pytest.param(Terms(circles=(Circle(role="admin"),)), "reviewer", Why.LOOKS_ONLY, False, id="only looks"),
        pytest.param(Terms(apart=True), "owner", Why.APART, True, id="kept apart"),
    ],
)
def test_who_may_not_approve_is_told_why_and_perhaps_may_reject(cast, terms, who, why, may_reject):
    person = cast.person(who)
    seen = approval_for(person, asked(cast, terms).public_id)
    assert (seen.may_decide, seen.may_reject, seen.why_not) == (False, may_reject, why)
    for decision in ("approve", "respond"):
        with pytest.raises(Forbidden):
            decisions.decide(user=person, approval=seen, decision=decision, digest="digest", response="x")
    if may_reject:
        decisions.decide(user=person, approval=seen, decision="reject", digest="digest", comment="changed my mind")
    assert Approval.objects.get().status == ("rejected" if may_reject else "pending")


def test_who_wrote_what_the_run_has_taken_up_is_kept_apart_like_who_asked(cast):
    approval = asked(cast, Terms(apart=True))
    conversation = approval.run.conversation
    Message.objects.create(
        conversation=conversation, run=approval.run, role="user", author=cast.member, text="and delete b", turn=1
    )
    assert may_approve(cast, approval) == [name for name in PEOPLE if waiting_count(cast.person(name))] == ["admin"]
    assert approval_for(cast.member, approval.public_id).why_not == Why.APART
    card = text_of(browser(cast.admin).get(f"/cards/call/{approval.call.public_id}"))
    assert "Nor may others whose messages the run has taken up." in card


def test_who_tries_again_what_another_has_asked_for_does_not_free_them_to_approve(cast):
    approval = asked(cast, Terms(apart=True))
    before = Run.objects.create(
        conversation=approval.run.conversation,
        agent=approval.run.agent,
        requested_by=cast.owner,
        snapshot=approval.run.snapshot,
        status="finished",
        outcome="failed",
    )
    Message.objects.filter(run=approval.run, role="user").update(run=before)
    Run.objects.filter(pk=approval.run_id).update(requested_by=cast.admin)
    assert may_approve(cast, approval) == [name for name in PEOPLE if waiting_count(cast.person(name))] == ["member"]


def test_what_becomes_of_the_group_later_counts_but_a_group_that_is_gone_means_nobody(cast):
    approval = asked(cast, Terms(circles=(Circle(group=group_of(cast.member)),)))
    group_of(cast.member, cast.owner)
    assert may_approve(cast, approval) == ["owner", "member"]
    Group.objects.get().delete()
    assert may_approve(cast, approval) == []


def test_when_the_last_who_could_decide_is_gone_admins_may_and_the_card_and_the_start_page_say_so(cast):
    approval = asked(cast, Terms(circles=(Circle(people=named(cast.member)),)))
    assert asking.look_for_stranded() == 0
    cast.member.memberships.all().delete()
    ApprovalTerms.objects.update(checked_at=None)
    assert [asking.look_for_stranded() for _ in range(2)] == [1, 0]
    assert may_approve(cast, approval) == ["admin"]
    words = "Nobody is left who could decide, so admins of the team may."
    assert words in text_of(browser(cast.owner).get(f"/cards/call/{approval.call.public_id}"))
    assert "1 approval waits that nobody who is named can decide" in text_of(browser(cast.admin).get("/admin/"))
    cast.team.memberships.create(user=cast.member, role="member")
    ApprovalTerms.objects.update(checked_at=None)
    assert asking.look_for_stranded() == 1
    assert may_approve(cast, approval) == ["member"]


def test_the_number_of_queries_does_not_grow_with_what_waits_on_terms(cast):
    circles = (Circle(role="admin"), Circle(group=group_of(cast.admin)))
    terms, counts = Terms(circles=circles, needed=2, apart=True), []
    page = browser(cast.admin)
    for _round in range(2):
        for risk in (Risk.MEDIUM, Risk.HIGH):
            asked(cast, terms, risk=risk)
        with CaptureQueriesContext(connection) as queries:
            assert len(inbox(cast.admin, 50)[0]) == 2 * (_round + 1)
            page.get("/approvals/")
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_the_sweep_looks_at_what_was_not_looked_at_for_longest_in_a_constant_number_of_queries(cast):
    counts = []
    for _round in range(2):
        asked(cast, Terms(circles=(Circle(role="admin"),)))
        asked(cast, Terms(circles=(Circle(group=group_of(cast.admin)),)))
        ApprovalTerms.objects.update(checked_at=None)
        with CaptureQueriesContext(connection) as queries:
            asking.look_for_stranded()
        counts.append(len(queries))
    assert counts[0] == counts[1]
    with CaptureQueriesContext(connection) as queries:
        asking.look_for_stranded()
    assert len(queries) == 1
