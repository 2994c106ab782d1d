"""Remembered approvals: who may give them, where they count, and how each of them ends."""

from contextlib import nullcontext
from datetime import timedelta

import pytest
from django.utils import timezone

from agentweb.engine import events
from agentweb.engine.enums import Risk
from agentweb.engine.ports import Allow, Ask, Deny
from agentweb.registry import catalog
from agentweb.registry.models import Policy, PolicyRule, Tool
from agentweb.registry.services import enact
from agentweb.runs import decisions, granted, grants, journal, services
from agentweb.runs.errors import Conflict, Forbidden, Invalid, NotFound
from agentweb.runs.models import Call, Grant, GrantUse, Run
from agentweb.runs.selectors import approval_for, conversation_for
from agentweb.teams.models import Membership
from tests.runs.judged_run import SAME, claimed_verdict
from tests.runs.waiting_call import waiting_approvals

OTHER = {"path": "a.txt", "content": "bye"}


@pytest.fixture
def pending(cast):
    return waiting_approvals(cast, cast.builder_run("team"))[0]


def give(cast, approval, scope="conversation", who="owner", **more):
    person = cast.person(who)
    approval = approval_for(person, approval.public_id)
    wish = grants.Wish(scope, **more)
    decisions.decide(user=person, approval=approval, decision="approve", digest="digest", remember=wish)
    return Grant.objects.get(approval=approval)


def again(cast, run, who="owner"):
    """The next run of the conversation."""
    Run.objects.filter(pk=run.pk).update(status="finished", outcome="answered")
    person = cast.person(who)
    conversation = conversation_for(person, run.conversation.public_id)
    return services.send_message(user=person, conversation=conversation, text="again").run


def test_the_same_call_runs_in_its_scope_and_any_other_asks(cast, pending):
    grant = give(cast, pending, "run")
    run = pending.run
    _claimed, allowed = claimed_verdict(run)
    assert isinstance(allowed, Allow) and allowed.grant == str(grant.public_id)
    assert isinstance(claimed_verdict(run, OTHER)[1], Ask)
    assert isinstance(claimed_verdict(again(cast, run))[1], Ask)


def test_a_grant_of_a_conversation_counts_in_its_next_run_and_in_no_other_conversation(cast, pending):
    give(cast, pending)
    assert isinstance(claimed_verdict(again(cast, pending.run, "member"))[1], Allow)
    assert isinstance(claimed_verdict(cast.builder_run("team"))[1], Ask)


def test_a_grant_until_a_date_counts_in_all_runs_of_its_giver_and_in_no_one_elses(cast, pending):
    give(cast, pending, "until", until=timezone.now() + timedelta(hours=1))
    assert isinstance(claimed_verdict(cast.builder_run("team"))[1], Allow)
    assert isinstance(claimed_verdict(again(cast, pending.run, "member"))[1], Ask)


def test_only_who_asked_can_agree_for_later_runs(cast, pending):
    with pytest.raises(Forbidden):
        give(cast, pending, "until", "member", until=timezone.now() + timedelta(hours=1))


def test_marked_arguments_may_vary_when_the_person_says_so(cast, pending):
    Tool.objects.filter(name="write_file").update(free_arguments="content, nonsense")
    grant = give(cast, pending, vary=True, free=("content",))
    assert grant.free == ["content"]
    assert isinstance(claimed_verdict(pending.run, OTHER)[1], Allow)
    assert isinstance(claimed_verdict(pending.run, {**SAME, "path": "b.txt"})[1], Ask)


def test_marked_arguments_must_be_the_same_unless_the_person_says_otherwise(cast, pending):
    Tool.objects.filter(name="write_file").update(free_arguments="content")
    give(cast, pending)
    assert isinstance(claimed_verdict(pending.run, OTHER)[1], Ask)


def test_who_lets_arguments_vary_must_name_them(cast, pending):
    Tool.objects.filter(name="write_file").update(free_arguments="content")
    with pytest.raises(Invalid, match="Name the arguments that may vary: content"):
        give(cast, pending, vary=True)


@pytest.mark.parametrize(("shown", "kept"), [(("content",), True), ((), False), (("content", "path"), False)])
def test_no_other_arguments_may_vary_than_the_person_was_shown(cast, pending, shown, kept):
    Tool.objects.filter(name="write_file").update(free_arguments="content")
    with nullcontext() if kept else pytest.raises(Conflict):
        give(cast, pending, vary=True, free=shown)
    pending.refresh_from_db()
    assert (pending.status, Grant.objects.count()) == (("approved", 1) if kept else ("pending", 0))


def test_a_refusal_wins_over_a_grant(cast, pending):
    give(cast, pending)
    policy = Policy.objects.get()
    PolicyRule.objects.create(policy=policy, tool="write_*", verdict="deny", reason="not now")
    Policy.objects.filter(pk=policy.pk).update(version=2)
    policy.refresh_from_db()
    enact(policy=policy)
    assert isinstance(claimed_verdict(pending.run)[1], Deny)


def test_at_higher_risk_the_grant_answers_nothing(cast, pending):
    give(cast, pending)
    Tool.objects.filter(name="write_file").update(risk="high")
    assert isinstance(claimed_verdict(pending.run)[1], Ask)


@pytest.mark.parametrize(
    ("field", "fields"),
    [
        ("grant.scope", {"scope": "ever"}),
        ("grant.until", {"scope": "until"}),
        ("grant.until", {"scope": "until", "until": timezone.now() - timedelta(seconds=1)}),
        ("grant.until", {"scope": "until", "until": timezone.now() + timedelta(days=400)}),
        ("grant.until", {"scope": "run", "until": timezone.now() + timedelta(days=1)}),
        ("grant.vary", {"scope": "run", "vary": True}),
    ],
)
def test_a_wish_that_makes_no_sense_is_refused_and_nothing_is_decided(cast, pending, field, fields):
    with pytest.raises(Invalid) as refused:
        give(cast, pending, **fields)
    assert [name for name, _words in refused.value.errors] == [field]
    pending.refresh_from_db()
    assert (pending.status, Grant.objects.count()) == ("pending", 0)


def test_only_a_plain_approval_at_lower_risk_can_be_remembered(cast, pending):
    wish = grants.Wish("run")
    for decision in ("reject", "respond", "modify"):
        with pytest.raises(Invalid):
            grants.check(cast.owner, pending, decision, wish)
    high = waiting_approvals(cast, cast.builder_run(), risk=Risk.HIGH, requires_comment=True)[0]
    with pytest.raises(Forbidden):
        grants.check(cast.owner, high, "approve", wish)
    assert grants.scopes_for(cast.owner, high) == []


def test_who_is_too_late_leaves_no_grant(cast, pending):
    decisions.decide(user=cast.owner, approval=pending, decision="reject", digest="digest", comment="no")
    with pytest.raises(Conflict):
        give(cast, pending)
    assert not Grant.objects.exists()


def _revoke(cast, grant):
    grants.revoke(user=cast.member, grant=granted.grant_for(cast.member, grant.public_id))


def _reject(cast, grant):
    run = again(cast, grant.run)
    asked = waiting_approvals(cast, run, arguments=OTHER)[0]
    decisions.decide(user=cast.owner, approval=asked, decision="reject", digest="digest", comment="no")
    return run


def _expire(cast, grant):
    Grant.objects.filter(pk=grant.pk).update(expires_at=timezone.now())


def _change(cast, grant):
    Grant.objects.filter(pk=grant.pk).update(tool_digest="of the tool as it was")


def _leave(cast, grant):
    Membership.objects.filter(user=grant.given_by).delete()


ENDS = [(_revoke, "revoked"), (_reject, "rejected"), (_expire, ""), (_change, "changed"), (_leave, "")]


@pytest.mark.parametrize(("end", "why"), ENDS)
def test_what_has_ended_allows_nothing_and_says_why(cast, pending, end, why):
    grant = give(cast, pending)
    run = end(cast, grant) or grant.run
    assert isinstance(claimed_verdict(run)[1], Ask)
    grant.refresh_from_db()
    assert grant.ended_why == why


def start(claimed, run, allowed):
    """What is recorded of a start that was judged a moment ago."""
    call = Call.objects.get(run=run)
    begun = events.ToolStarted(str(call.public_id), call.name, SAME, allowed.rule, 1, allowed.grant)
    return journal.append(claimed, (begun,))


def test_a_start_names_its_grant(cast, pending):
    grant = give(cast, pending)
    claimed, allowed = claimed_verdict(pending.run)
    assert not start(claimed, pending.run, allowed).refused
    assert GrantUse.objects.get().grant == grant
    assert [
        row.times
        for row in granted.grants_in(cast.owner, conversation_for(cast.owner, pending.run.conversation.public_id))
    ] == [1]


@pytest.mark.parametrize("end", [_revoke, _expire, _leave])
def test_a_grant_that_ends_after_the_call_was_judged_starts_nothing(cast, pending, end):
    grant = give(cast, pending)
    claimed, allowed = claimed_verdict(pending.run)
    last = Run.objects.get(pk=pending.run.pk).last_event
    end(cast, grant)
    assert start(claimed, pending.run, allowed).refused
    assert Run.objects.get(pk=pending.run.pk).last_event == last
    assert Call.objects.get(run=pending.run).status == Call.Status.WAITING


def test_what_came_with_a_start_that_may_not_be_is_kept(cast):
    first, _second = waiting_approvals(cast, cast.builder_run(), 2)
    grant = give(cast, first)
    claimed, allowed = claimed_verdict(first.run)
    _revoke_by_owner(cast, grant)
    batch = (
        events.ApprovalDecided(str(first.public_id), str(first.call.public_id), "approved", None, "owner"),
        events.ToolStarted(str(first.call.public_id), "write_file", SAME, allowed.rule, 1, allowed.grant),
    )
    assert journal.append(claimed, batch).refused
    assert Run.objects.get().events.last().kind == "ApprovalDecided"


def _revoke_by_owner(cast, grant):
    grants.revoke(user=cast.owner, grant=granted.grant_for(cast.owner, grant.public_id))


def test_a_grant_is_revoked_once_and_only_by_those_who_decide(cast, pending):
    grant = give(cast, pending)
    with pytest.raises(Forbidden):
        grants.revoke(user=cast.reviewer, grant=granted.grant_for(cast.reviewer, grant.public_id))
    with pytest.raises(NotFound):
        granted.grant_for(cast.stranger, grant.public_id)
    _revoke(cast, grant)
    with pytest.raises(Conflict):
        _revoke(cast, grant)
    grant.refresh_from_db()
    assert (grant.ended_by, grant.ended_why) == (cast.member, "revoked")


def test_a_grant_is_bound_to_the_definition_that_the_run_was_told(cast, pending):
    assert give(cast, pending).tool_digest == catalog.tools()["write_file"].spec.digest
