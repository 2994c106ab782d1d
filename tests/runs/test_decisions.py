"""What people decide: exactly once, only by those who may, only about what they saw."""

import os
import threading

import pytest
from django.db import connection

from agentweb.engine.enums import Risk
from agentweb.runs import decisions, selectors, services
from agentweb.runs.errors import Conflict, Forbidden, Invalid, NotFound
from agentweb.runs.models import Approval, Run
from tests.cast import make_cast
from tests.runs.waiting_call import waiting_approvals

ROUNDS = 500 if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else 15


@pytest.fixture
def pending(cast) -> Approval:
    return waiting_approvals(cast, cast.builder_run())[0]


def decide(cast, approval, decision="approve", **changes):
    fields = {"user": cast.owner, "approval": approval, "decision": decision, "digest": "digest"} | changes
    return decisions.decide(**fields)


@pytest.mark.parametrize(
    ("decision", "fields", "status", "final"),
    [
        ("approve", {}, "approved", {"path": "a.txt", "content": "hello"}),
        ("modify", {"arguments": {"path": "b.txt", "content": "hi"}}, "modified", {"path": "b.txt", "content": "hi"}),
        (
            "modify",
            {"arguments": {"content": "hello", "path": "a.txt"}},
            "approved",
            {"path": "a.txt", "content": "hello"},
        ),
        ("reject", {"comment": "not now"}, "rejected", None),
        ("respond", {"response": "It is done already."}, "answered", None),
    ],
)
def test_a_decision_is_recorded_and_queues_the_run(cast, pending, decision, fields, status, final):
    decided = decide(cast, pending, decision, **fields)
    assert (decided.status, decided.final_arguments, decided.decided_by) == (status, final, cast.owner)
    assert (decided.comment, decided.response) == (fields.get("comment", ""), fields.get("response", ""))
    assert Run.objects.get().status == Run.Status.QUEUED


@pytest.mark.parametrize(
    ("decision", "fields", "path"),
    [
        ("modify", {"arguments": "path=b"}, "arguments"),
        ("modify", {"arguments": ["b"]}, "arguments"),
        ("modify", {"arguments": None}, "arguments"),
        ("modify", {"arguments": {"path": "b.txt"}}, "content"),
        ("modify", {"arguments": {"path": 5, "content": "x"}}, "path"),
        ("modify", {"arguments": {"path": "b.txt", "content": None}}, "content"),
        ("modify", {"arguments": {"path": "b", "content": "x", "mode": "w"}}, "mode"),
        ("respond", {"response": " "}, "response"),
        ("approve", {"comment": "x" * 10_001}, "comment"),
        ("approve", {"comment": 7}, "comment"),
        ("allow", {}, "decision"),
    ],
)
def test_a_decision_that_makes_no_sense_is_refused_with_the_field_and_nothing_changes(
    cast, pending, decision, fields, path
):
    with pytest.raises(Invalid) as refused:
        decide(cast, pending, decision, **fields)
    assert path in [field for field, _message in refused.value.errors]
    assert Approval.objects.get().status == Approval.Status.PENDING
    assert Run.objects.get().status == Run.Status.WAITING


def test_high_risk_needs_a_comment_to_run(cast):
    approval = waiting_approvals(cast, cast.builder_run(), risk=Risk.HIGH, requires_comment=True)[0]
    for decision, fields in (("approve", {}), ("modify", {"arguments": {"path": "b", "content": ""}})):
        with pytest.raises(Invalid):
            decide(cast, approval, decision, comment="  ", **fields)
    assert decide(cast, approval, comment="checked").status == Approval.Status.APPROVED


def test_a_digest_that_was_not_shown_decides_nothing(cast, pending):
    with pytest.raises(Conflict) as refused:
        decide(cast, pending, digest="another")
    assert refused.value.state["digest"] == "digest"
    assert Approval.objects.get().status == Approval.Status.PENDING


def test_the_second_decision_hears_who_was_first(cast, pending):
    other = selectors.approval_for(cast.owner, pending.public_id)
    decide(cast, pending, "reject", comment="no")
    with pytest.raises(Conflict) as refused:
        decide(cast, other)
    assert refused.value.state["status"] == "rejected"
    assert refused.value.state["decided_by"] == "owner"
    assert "owner" in refused.value.text


def test_after_a_cancel_nothing_can_be_approved(cast, pending):
    other = selectors.approval_for(cast.owner, pending.public_id)
    services.cancel_run(user=cast.owner, run=selectors.run_for(cast.owner, pending.run.public_id))
    with pytest.raises(Conflict) as refused:
        decide(cast, other)
    assert refused.value.state["status"] == "cancelled"
    assert Approval.objects.get().status == Approval.Status.CANCELLED


@pytest.mark.parametrize(("visibility", "who"), [("private", "member"), ("private", "stranger"), ("team", "stranger")])
def test_people_who_may_not_see_the_call_do_not_find_it(cast, visibility, who):
    approval = waiting_approvals(cast, cast.builder_run(visibility))[0]
    with pytest.raises(NotFound):
        selectors.approval_for(cast.person(who), approval.public_id)


def test_a_reviewer_sees_the_call_and_may_not_decide(cast, pending):
    seen = selectors.approval_for(cast.reviewer, pending.public_id)
    assert not seen.may_decide
    with pytest.raises(Forbidden):
        decide(cast, seen, user=cast.reviewer)


@pytest.mark.parametrize("who", ["member", "admin"])
def test_members_and_admins_decide_in_a_shared_conversation(cast, who):
    approval = waiting_approvals(cast, cast.builder_run("team"))[0]
    person = cast.person(who)
    assert decide(cast, selectors.approval_for(person, approval.public_id), user=person).decided_by == person


def test_one_decision_of_three_queues_the_run_and_leaves_the_others_pending(cast):
    first, second, third = waiting_approvals(cast, cast.builder_run(), 3)
    decide(cast, second)
    statuses = {a.public_id: a.status for a in Approval.objects.all()}
    assert [statuses[a.public_id] for a in (first, second, third)] == ["pending", "approved", "pending"]
    assert Run.objects.get().status == Run.Status.QUEUED


@pytest.mark.django_db(transaction=True)
def test_of_two_decisions_in_the_same_moment_exactly_one_counts():
    cast = make_cast()
    for round_ in range(ROUNDS):
        approval = waiting_approvals(cast, cast.builder_run())[0]
        outcomes = together(
            lambda kind, approval=approval: decide(cast, selectors.approval_for(cast.owner, approval.public_id), kind),
            ("approve", "reject"),
        )
        assert sorted(outcomes) == ["Conflict", "decided"], round_
        approval.refresh_from_db()
        assert approval.status == ("approved" if outcomes[0] == "decided" else "rejected")


def together(act, choices) -> list[str]:
    """Call ``act`` with each choice in its own thread at the same moment; what came of each."""
    barrier, outcomes = threading.Barrier(len(choices)), [""] * len(choices)

    def one(place: int) -> None:
        try:
            barrier.wait()
            act(choices[place])
            outcomes[place] = "decided"
        except Exception as error:  # the name is the answer that the test looks at
            outcomes[place] = type(error).__name__
        finally:
            connection.close()

    threads = [threading.Thread(target=one, args=(place,)) for place in range(len(choices))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    return outcomes
