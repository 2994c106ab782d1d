"""On which terms people are asked, when one rule or several ask about a call."""

import pytest

from agentweb.engine.terms import Circle, Later, Named, Terms
from agentweb.policy.judging import judge
from agentweb.policy.terms_words import told
from tests.policy.rules import ALLOW, ANN, ASK, DENY, HIGH, LOW, RAISE, facts, rule

PLAIN = rule(ASK)
LATER = Later(30, "reviewer")
ADMINS, MEMBERS = Circle(role="admin"), Circle(role="member")


@pytest.mark.parametrize(
    ("rules", "risk", "expected"),
    [
        pytest.param((), LOW, None, id="nobody wants anything"),
        pytest.param((PLAIN,), LOW, None, id="a rule without terms"),
        pytest.param((rule(ASK, wait_minutes=30),), LOW, Terms(30), id="one rule"),
        pytest.param((PLAIN, rule(ASK, wait_minutes=30)), LOW, Terms(30), id="not the one that decides"),
        pytest.param((rule(ASK, wait_minutes=9), rule(ASK, wait_minutes=5)), LOW, Terms(5), id="the shorter wait"),
        pytest.param((rule(ASK, needed=2), rule(ASK, needed=3)), LOW, Terms(needed=3), id="the larger number"),
        pytest.param((PLAIN, rule(ASK, apart=True)), LOW, Terms(apart=True), id="apart if one wants it"),
        pytest.param((PLAIN, rule(ASK, deciders=ADMINS)), LOW, Terms(circles=(ADMINS,)), id="those who are named"),
        pytest.param(
            (rule(ASK, deciders=ADMINS), rule(ASK, deciders=MEMBERS), rule(ASK, deciders=ADMINS)),
            LOW,
            Terms(circles=(ADMINS, MEMBERS)),
            id="each rule's own people, who must be the same",
        ),
        pytest.param(
            (rule(ASK, later=LATER), rule(ASK, deciders=ADMINS)),
            LOW,
            Terms(circles=(Circle(later=LATER), ADMINS)),
            id="others join those whom the same rule names",
        ),
        pytest.param((rule(ASK, "clock", wait_minutes=5),), LOW, None, id="rules that mean other calls do not count"),
        pytest.param(
            (rule(RAISE, raise_to=HIGH), rule(ASK, risk=LOW, wait_minutes=5), rule(ASK, risk=HIGH, wait_minutes=3)),
            LOW,
            Terms(3),
            id="at each level that is judged",
        ),
    ],
)
def test_the_terms_that_people_are_asked_on(rules, risk, expected):
    assert judge(rules, facts(risk=risk)).verdict.terms == expected


def test_a_rule_that_may_mean_the_call_makes_its_terms():
    about_admins = rule(ASK, role="admin", wait_minutes=5)
    assert judge((PLAIN, about_admins), facts(role=None)).verdict.terms == Terms(5)


@pytest.mark.parametrize("stronger", [rule(DENY), rule(ALLOW)])
def test_what_asks_nobody_has_no_terms(stronger):
    rules = (stronger, rule(ASK, "clock", wait_minutes=5))
    assert not hasattr(judge(rules, facts()).verdict, "terms")


def test_the_words_that_bind_a_decision_name_each_rule_with_terms_and_its_version():
    other = rule(ASK, "write_*", wait_minutes=5)
    assert judge((PLAIN, other, rule(ASK, "write_f*")), facts()).recorded == (
        "default v1: * → ask; also default v1: write_* → ask"
    )
    assert judge((other,), facts()).recorded == "default v1: write_* → ask"


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        (Terms(30), "an approval by whoever may write in the conversation, and admins of the team; within 30 minutes"),
        (
            Terms(circles=(Circle(role="admin", later=Later(30, "reviewer")),)),
            "an approval by admins of the team; after 30 minutes also by reviewers of the team",
        ),
        (
            Terms(0, (Circle(True, "admin", Named(1, "Auditors"), (ANN,)), MEMBERS), 2, True),
            "2 approvals by who asked, admins of the team, the group Auditors, ann who are also among: "
            "members of the team; not by who asked",
        ),
    ],
)
def test_terms_in_words(terms, words):
    assert told(terms) == words
