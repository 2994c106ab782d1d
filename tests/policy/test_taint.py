"""After text that nobody vouches for, what changes or sends something counts one level higher."""

import pytest

from agentweb.policy.judging import judge
from tests.policy.rules import ALLOW, ASK, DENY, HIGH, LOW, MEDIUM, RAISE, facts, rule

USUAL = (rule(ALLOW, risk=LOW), rule(ASK, risk=MEDIUM), rule(ASK, risk=HIGH, requires_comment=True))


@pytest.mark.parametrize(
    ("risk", "says", "level", "comment"),
    [(LOW, ASK, MEDIUM, False), (MEDIUM, ASK, HIGH, True), (HIGH, ASK, HIGH, True)],
)
def test_a_call_that_acts_is_judged_one_level_higher(risk, says, level, comment):
    ruling = judge(USUAL, facts(risk=risk, tainted=True, acts=True))
    assert (ruling.says, ruling.level, ruling.requires_comment) == (says, level, comment)
    assert ruling.by_taint is (risk is not HIGH)
    assert ruling.recorded.endswith("one level higher after untrusted text") is (risk is not HIGH)


@pytest.mark.parametrize("more", [{"tainted": True}, {"acts": True}, {}], ids=["reads", "untainted", "neither"])
def test_reading_and_acting_before_it_stay_at_their_own_level(more):
    ruling = judge(USUAL, facts(risk=LOW, **more))
    assert (ruling.says, ruling.level, ruling.by_taint) == (ALLOW, LOW, False)


def test_a_rule_that_raises_further_wins_and_a_refusal_stays_one():
    raised = judge((*USUAL, rule(RAISE, raise_to=HIGH)), facts(risk=LOW, tainted=True, acts=True))
    assert (raised.level, raised.requires_comment) == (HIGH, True)
    refused = judge((*USUAL, rule(DENY, "write_*", risk=LOW)), facts(risk=LOW, tainted=True, acts=True))
    assert refused.says is DENY


def test_without_anybody_there_it_is_refused():
    assert judge(USUAL, facts(risk=LOW, tainted=True, acts=True, attended=False)).says is DENY
