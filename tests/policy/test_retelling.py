"""The rule that a record names, told in another language."""

import pytest

from agentweb.engine.enums import Risk
from agentweb.engine.terms import Circle, Named
from agentweb.policy.judging import judge
from agentweb.policy.retelling import retold
from agentweb.policy.words import PIECES, line
from tests.policy.rules import ALLOW, ANN, ASK, BUILDER, DEMO, DENY, HIGH, LOW, MEDIUM, RAISE, REPORTS, facts, rule

RULES = [
    rule(ALLOW),
    rule(ASK, "write_*", risk=MEDIUM),
    rule(DENY, "mail.send", agent=BUILDER, team=DEMO, user=ANN, role="member", risk=HIGH),
    rule(RAISE, "*", raise_to=Risk.HIGH, tainted=True, attended=False),
    rule(RAISE, "*", raise_to=Risk.MEDIUM, tainted=False, attended=True, condition=REPORTS),
    rule(ASK, "fetch", name="pages of others", condition=REPORTS, user=Named(9, "Zoë at home")),
    rule(ASK, "fetch", name="a → b (c)"),
    rule(ALLOW, broken=True),
    rule(ALLOW, broken=True, name="old"),
]


def other_language(text: str) -> str:
    """Each piece in marks, with what it leaves open kept; anything that is no piece is an error."""
    assert text in PIECES, text
    return f"«{text}»"


@pytest.mark.parametrize("one", RULES, ids=line)
def test_a_rule_is_told_as_if_it_had_been_written_in_that_language(one):
    assert retold(line(one), other_language) == line(one, other_language)


@pytest.mark.parametrize("one", RULES, ids=line)
def test_in_english_it_stays_as_it_is(one):
    assert retold(line(one), str) == line(one)


def test_what_made_the_verdict_is_told_whole():
    raising = rule(RAISE, raise_to=Risk.MEDIUM)
    asks = rule(ASK, needed=2, deciders=Circle(True, "", None, ()))
    also = rule(ASK, "write_file", needed=3, name="files")
    ruling = judge((raising, asks, also), facts(risk=LOW, tainted=True, acts=True))
    told = retold(ruling.recorded, other_language)
    first, by, more = (line(each, other_language) for each in (asks, raising, also))
    assert told == f"{first}; «raised by» {by}; «one level higher after untrusted text»; «also» {more}"


def test_no_rule_and_what_was_in_doubt_are_told():
    nothing = judge((), facts(tainted=True, acts=True))
    assert retold(nothing.recorded, other_language) == "«no rule matched»; «one level higher after untrusted text»"
    unsure = judge((rule(DENY, role="admin"),), facts(role=None))
    told = retold(unsure.recorded, other_language)
    assert told == f"{line(rule(DENY, role='admin'), other_language)} («not to be told: «the role of who asks»»)"


@pytest.mark.parametrize("text", ["", "granted once", "default v1: write_* at med", "→", "; also ", "a; also b"])
def test_what_is_no_rule_or_only_its_beginning_is_kept(text):
    assert retold(text, str) == text
