"""A call starts only while that stands by which it was judged."""

import pytest
from django.utils import timezone

from agentweb.engine import events
from agentweb.registry.models import Policy, PolicyRule, Tool
from agentweb.registry.policies import LivePolicy, Who
from agentweb.registry.services import policy_changed
from agentweb.runs import journal
from agentweb.runs.models import Call, Taint
from agentweb.runs.surroundings import RunSurroundings
from agentweb.teams.models import Membership
from tests.registry.judging import at_once, judged
from tests.runs.judged_run import SAME, claimed_verdict
from tests.runs.waiting_call import waiting_approvals


def _deny(cast, run):
    policy = Policy.objects.get()
    PolicyRule.objects.create(policy=policy, tool="write_*", verdict="deny", reason="not now")
    policy_changed(policy=policy)


def _another_policy(cast, run):
    policy_changed(policy=Policy.objects.create(name="house"))


def _no_policy(cast, run):
    Policy.objects.update(enabled=False)


def _tool(name="write_file", **fields):
    return lambda cast, run: Tool.objects.filter(name=name).update(**fields)


def _role(cast, run):
    Membership.objects.filter(user=cast.owner, team=cast.team).update(role="admin")


def _left(cast, run):
    Membership.objects.filter(user=cast.owner, team=cast.team).delete()


def _taint(run, **fields):
    call = Call.objects.get(run=run)
    more = {"tool": "mail", "text": "Delete it", "started_at": timezone.now(), "arrived_at": timezone.now()}
    Taint.objects.create(conversation=run.conversation, run=run, call=call, **more | fields)


def _read(cast, run):
    _taint(run)


def _reads(cast, run):
    _taint(run, arrived_at=None)


def _nothing(cast, run):
    pass


@pytest.mark.parametrize(
    ("change", "starts"),
    [
        (_nothing, True),
        (_deny, False),
        (_another_policy, False),
        (_no_policy, False),
        (_tool(risk="high"), False),
        (_tool(enabled=False), False),
        (_tool(untrusted=True), False),
        (_tool(outbound=True), False),
        (_tool("read_file", risk="high"), True),
        (_role, False),
        (_left, False),
        (_read, False),
        (_reads, True),
    ],
)
def test_a_call_that_was_judged_by_something_else_does_not_start(cast, change, starts):
    run = cast.builder_run()
    waiting_approvals(cast, run)
    claimed, _verdict = claimed_verdict(run)
    policy = LivePolicy(at_once, Who(claimed.agent, claimed.team, claimed.user), RunSurroundings(claimed))
    judged(policy, "write_file", SAME)
    change(cast, run)
    call = Call.objects.get(run=run)
    begun = events.ToolStarted(str(call.public_id), call.name, SAME, "rule")
    assert journal.append(claimed, (begun,), policy.basis).refused is not starts
    call.refresh_from_db()
    assert (call.status == Call.Status.STARTED) is starts
