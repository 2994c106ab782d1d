"""From rules and facts to a verdict, as tables."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentweb.engine.ports import Allow, Ask, Deny
from agentweb.engine.terms import Named
from agentweb.policy.judging import FORBIDDEN, STRICTNESS, judge, matches
from agentweb.policy.matching import Fit
from agentweb.policy.rules import Rule, Says
from agentweb.policy.words import NO_RULE, Why
from tests.policy.rules import (
    ALLOW,
    ANN,
    ASK,
    BUILDER,
    DEMO,
    DENY,
    HIGH,
    LOW,
    MEDIUM,
    RAISE,
    REPORTS,
    facts,
    rule,
)

ALL_RUN, ALL_ASK = rule(ALLOW), rule(ASK)
NO_FILES = rule(DENY, "*_file", reason="files are frozen")
USUAL = (rule(ALLOW, risk=LOW), rule(ASK, risk=MEDIUM), rule(ASK, risk=HIGH, requires_comment=True))


@pytest.mark.parametrize(
    ("rules", "tool", "risk", "expected"),
    [
        pytest.param((), "weather", LOW, Ask(NO_RULE, LOW), id="no rule at all: people are asked"),
        pytest.param((), "weather", HIGH, Ask(NO_RULE, HIGH, True), id="no rule at high risk: with a comment"),
        pytest.param(USUAL[1:], "weather", LOW, Ask(NO_RULE, LOW), id="no rule for this level"),
        pytest.param(USUAL, "weather", LOW, Allow("default v1: * at low risk → allow"), id="low runs"),
        pytest.param(USUAL, "weather", MEDIUM, Ask("default v1: * at medium risk → ask", MEDIUM), id="medium asks"),
        pytest.param(USUAL, "weather", HIGH, Ask("default v1: * at high risk → ask", HIGH, True), id="high: comment"),
        pytest.param((ALL_RUN, ALL_ASK), "weather", LOW, Ask("default v1: * → ask", LOW), id="ask wins over allow"),
        pytest.param(
            (ALL_ASK, NO_FILES, ALL_RUN),
            "read_file",
            LOW,
            Deny("default v1: *_file → deny", "files are frozen"),
            id="deny wins, with its reason",
        ),
        pytest.param((rule(DENY),), "x", LOW, Deny("default v1: * → deny", FORBIDDEN), id="a reason is made up"),
        pytest.param((ALL_RUN, NO_FILES), "weather", LOW, Allow("default v1: * → allow"), id="its tools only"),
        pytest.param((rule(ALLOW, "clock"),), "Clock", LOW, Ask(NO_RULE, LOW), id="upper and lower case differ"),
        pytest.param(
            (ALL_ASK, rule(ASK, requires_comment=True)),
            "x",
            LOW,
            Ask("default v1: * → ask", LOW, True),
            id="one rule wants a comment",
        ),
        pytest.param((ALL_RUN,), "x", HIGH, Ask("default v1: * → allow", HIGH, True), id="high is never allowed"),
        pytest.param(
            (NO_FILES,), "a_file", HIGH, Deny("default v1: *_file → deny", "files are frozen"), id="but denied"
        ),
    ],
)
def test_the_verdict_that_the_loop_gets(rules, tool, risk, expected):
    assert judge(rules, facts(tool, risk)).verdict == expected


@pytest.mark.parametrize(
    ("narrow", "known", "field"),
    [
        pytest.param({"tool": "read_*"}, {}, "tool", id="another tool"),
        pytest.param({"risk": MEDIUM}, {}, "risk", id="another level"),
        pytest.param({"agent": BUILDER}, {"agent": 4}, "agent", id="another agent"),
        pytest.param({"team": DEMO}, {"team": 6}, "team", id="another team"),
        pytest.param({"user": ANN}, {"user": 8}, "user", id="another person"),
        pytest.param({"role": "admin"}, {}, "role", id="another role"),
        pytest.param({"tainted": True}, {}, "tainted", id="nothing untrusted was read"),
        pytest.param({"tainted": False}, {"tainted": True}, "tainted", id="something untrusted was read"),
        pytest.param({"attended": False}, {}, "attended", id="somebody attends"),
        pytest.param({"condition": REPORTS}, {"arguments": {"path": "a"}}, "condition", id="other arguments"),
        pytest.param({"condition": REPORTS}, {"arguments": {}}, "condition", id="no arguments"),
    ],
)
def test_a_rule_is_silent_about_calls_that_it_does_not_mean(narrow, known, field):
    one = rule(DENY, **narrow)
    assert judge((one,), facts(**known)).why is Why.NO_RULE
    ((_rule, found),) = matches((one,), facts(**known))
    assert (found.fit, found.field) == (Fit.NO, field)


def test_a_rule_means_the_call_when_all_of_it_fits():
    one = rule(
        DENY,
        "write_*",
        risk=LOW,
        agent=BUILDER,
        team=DEMO,
        user=ANN,
        role="member",
        tainted=False,
        attended=True,
        condition=REPORTS,
    )
    assert judge((ALL_RUN, one), facts()).rule is one


# What cannot be told to fit, with the field that it is told of.
UNSURE = [
    pytest.param({"tool": "write_[ab]"}, {}, "tool", id="a pattern that is none"),
    pytest.param({"condition": {"type": "banana"}}, {}, "condition", id="a condition that is no schema"),
    pytest.param({"condition": {"pattern": "(a+)+b"}}, {}, "condition", id="a pattern that could take for ever"),
    pytest.param({"condition": REPORTS}, {"arguments": None}, "condition", id="arguments that nobody could read"),
    pytest.param(
        {"condition": {"properties": {"path": {"not": {"pattern": "x*y*z*x*q"}}}}},
        {"arguments": {"path": "y" * 5_000}},
        "condition",
        id="a text too long for the pattern",
    ),
    pytest.param(
        {"condition": REPORTS},
        {"arguments": {"path": "reports/", "n": "a" * 10, "x" * 2_000: 1}},
        "condition",
        id="a name too long",
    ),
    pytest.param({"role": "member"}, {"role": None}, "role", id="who asks is no longer in the team"),
    pytest.param({"agent": BUILDER}, {"agent": None}, "agent", id="an unknown agent"),
    pytest.param({"broken": True}, {}, "rule", id="a stored rule that cannot be read"),
]


@pytest.mark.parametrize(("narrow", "known", "field"), UNSURE)
@pytest.mark.parametrize(
    ("says", "why"), [(ALLOW, Why.UNSURE_ASKS), (ASK, Why.UNSURE_ASKS), (DENY, Why.UNSURE_DENIES)], ids=str
)
def test_a_rule_that_cannot_be_told_to_fit_never_helps_the_call(narrow, known, field, says, why):
    ruling = judge((ALL_RUN, rule(says, **narrow)), facts(**known))
    assert (ruling.why, ruling.unsure) == (why, field)
    assert "not to be told" in ruling.recorded


def test_a_rule_that_surely_speaks_of_something_else_is_no_matter_of_doubt():
    assert judge((ALL_RUN, rule(DENY, "read_*", condition={"type": "banana"})), facts()).says is ALLOW


# Raising: what the rules say at the level of before counts as well.
TO_HIGH = rule(RAISE, "write_*", condition=REPORTS, raise_to=HIGH)


@pytest.mark.parametrize(
    ("rules", "risk", "says", "level", "comment"),
    [
        pytest.param((*USUAL, TO_HIGH), LOW, ASK, HIGH, True, id="from low to high"),
        pytest.param((*USUAL, rule(RAISE, raise_to=MEDIUM)), LOW, ASK, MEDIUM, False, id="from low to medium"),
        pytest.param((*USUAL, rule(RAISE, raise_to=MEDIUM)), HIGH, ASK, HIGH, True, id="never down"),
        pytest.param((*USUAL, TO_HIGH, rule(RAISE, raise_to=MEDIUM)), LOW, ASK, HIGH, True, id="the highest counts"),
        pytest.param((rule(DENY, risk=LOW), TO_HIGH), LOW, DENY, HIGH, False, id="no way round a rule for low risk"),
        pytest.param((rule(ALLOW, risk=MEDIUM), rule(RAISE, raise_to=MEDIUM)), LOW, ASK, MEDIUM, False, id="nor help"),
        pytest.param((ALL_RUN, rule(RAISE, condition={"type": 1}, raise_to=HIGH)), LOW, ASK, HIGH, True, id="in doubt"),
    ],
)
def test_a_level_that_is_raised(rules, risk, says, level, comment):
    ruling = judge(rules, facts(risk=risk))
    assert (ruling.says, ruling.level, ruling.requires_comment) == (says, level, comment)


def test_the_record_names_what_raised_the_level():
    assert judge((*USUAL, rule(RAISE, raise_to=HIGH)), facts()).recorded == (
        "default v1: * at high risk → ask; raised by default v1: * → raise high risk"
    )


@pytest.mark.parametrize(
    ("rules", "expected"),
    [
        pytest.param((ALL_RUN,), ALLOW, id="what is allowed runs"),
        pytest.param((ALL_ASK,), DENY, id="an ask is refused"),
        pytest.param((), DENY, id="no rule at all"),
        pytest.param((rule(ALLOW, condition={"type": 1}),), DENY, id="in doubt"),
    ],
)
def test_where_nobody_attends_there_is_nobody_to_ask(rules, expected):
    ruling = judge(rules, facts(attended=False))
    assert ruling.says is expected
    if expected is DENY:
        assert ruling.verdict.reason == "a person would have to decide, and nobody attends this run"


# --- properties -----------------------------------------------------------------------------------------------------

SCHEMAS = st.sampled_from([None, REPORTS, {"type": "banana"}, {"required": ["to"]}, {"not": {"required": ["to"]}}])
RISKS = st.sampled_from([LOW, MEDIUM, HIGH])


@st.composite
def some_rule(draw, *says: Says) -> Rule:
    said = draw(st.sampled_from(says or tuple(Says)))
    return rule(
        said,
        draw(st.sampled_from(["*", "write_*", "read_file", "[", "*_file"])),
        risk=draw(st.none() | RISKS),
        agent=draw(st.none() | st.sampled_from([BUILDER, Named(4, "Other")])),
        role=draw(st.sampled_from(["", "member", "admin"])),
        tainted=draw(st.none() | st.booleans()),
        attended=draw(st.none() | st.booleans()),
        condition=draw(SCHEMAS),
        raise_to=draw(RISKS) if said is RAISE else None,
        requires_comment=said is ASK and draw(st.booleans()),
    )


SOME_FACTS = st.builds(
    facts,
    st.sampled_from(["write_file", "read_file", "weather"]),
    RISKS,
    arguments=st.sampled_from([None, {}, {"path": "reports/a"}, {"to": "b"}]),
    agent=st.none() | st.just(3),
    role=st.none() | st.just("member"),
    tainted=st.booleans(),
    attended=st.booleans(),
)
SOME_RULES = st.lists(some_rule(), max_size=5)


def outcome(rules, known) -> tuple:
    ruling = judge(rules, known)
    return STRICTNESS[ruling.says], ruling.level, ruling.requires_comment


@settings(max_examples=60)
@given(SOME_RULES, SOME_FACTS, some_rule(DENY, RAISE))
def test_a_rule_that_denies_or_raises_never_makes_a_verdict_weaker(rules, known, more):
    assert outcome([*rules, more], known)[0] >= outcome(rules, known)[0]


@settings(max_examples=60)
@given(SOME_RULES, SOME_FACTS, st.randoms())
def test_the_order_of_the_rules_is_no_matter(rules, known, random):
    mixed = list(rules)
    random.shuffle(mixed)
    assert outcome(mixed, known) == outcome(rules, known)


@settings(max_examples=60)
@given(SOME_RULES, SOME_FACTS)
def test_a_verdict_is_made_by_a_rule_that_may_mean_the_call(rules, known):
    ruling = judge(rules, known)
    may = [one for one, found in matches(rules, known) if found.fit is not Fit.NO and one.says is not RAISE]
    assert (ruling.rule is None) == (not may)
    assert ruling.rule is None or ruling.rule in may
    assert not (ruling.says is ALLOW and known.risk is HIGH)
    assert not (ruling.says is ASK and not known.attended)
