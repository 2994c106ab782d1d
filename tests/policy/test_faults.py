"""What may not be saved, with the field named; how rules are stored; and their words."""

import pytest

from agentweb.engine.terms import Circle, Later
from agentweb.policy import stored
from agentweb.policy.faults import MESSAGES, faults
from agentweb.policy.words import described, line
from tests.policy.rules import ALLOW, ANN, ASK, BUILDER, DEMO, DENY, HIGH, LOW, MEDIUM, RAISE, REPORTS, rule

ANN_OR_WHO_ASKED = Circle(True, people=(ANN,))
LATER = Later(30, "admin")
ADMINS = Circle(role="admin")
OPEN_PATH = {"properties": {"path": {"pattern": "^reports/"}}}
FULL = rule(
    DENY,
    "write_*",
    risk=MEDIUM,
    agent=BUILDER,
    team=DEMO,
    user=ANN,
    role="member",
    tainted=False,
    attended=True,
    condition=REPORTS,
    reason="frozen",
    name="no reports",
)


@pytest.mark.parametrize(
    ("one", "expected"),
    [
        pytest.param(rule(ALLOW), [], id="nothing wrong"),
        pytest.param(FULL, [], id="with all that a rule may look at"),
        pytest.param(rule(RAISE, raise_to=MEDIUM), [], id="a level is raised"),
        pytest.param(rule(ALLOW, "two words"), [("tool", "glob")], id="two words"),
        pytest.param(rule(ALLOW, "write_[ab]"), [("tool", "glob")], id="brackets mean nothing"),
        pytest.param(rule(ALLOW, ""), [("tool", "glob")], id="no tool"),
        pytest.param(
            rule(DENY, requires_comment=True), [("requires_comment", "comment")], id="a refusal has no comment"
        ),
        pytest.param(rule(ALLOW, requires_comment=True), [("requires_comment", "comment")], id="nor has an allow"),
        pytest.param(rule(DENY, wait_minutes=5), [("wait_minutes", "terms")], id="a wait where nobody is asked"),
        pytest.param(
            rule(ALLOW, needed=2, apart=True, deciders=ADMINS),
            [("needed", "terms"), ("apart", "terms"), ("deciders", "terms")],
            id="terms where nobody is asked",
        ),
        pytest.param(rule(ASK, needed=2, apart=True, deciders=ADMINS), [], id="how many admins there are, time tells"),
        pytest.param(rule(ASK, needed=2), [], id="two of whoever may write"),
        pytest.param(rule(ASK, needed=2, deciders=Circle(True)), [("needed", "alone")], id="one person cannot be two"),
        pytest.param(rule(ASK, apart=True, deciders=Circle(True)), [("apart", "apart_alone")], id="nobody is left"),
        pytest.param(
            rule(ASK, needed=3, deciders=Circle(True, people=(ANN,))), [("needed", "few")], id="two are not three"
        ),
        pytest.param(rule(ASK, needed=2, deciders=Circle(True, people=(ANN,))), [], id="two are two"),
        pytest.param(rule(ASK, wait_minutes=60, later=LATER), [], id="others before the time is over"),
        pytest.param(rule(ASK, wait_minutes=30, later=LATER), [("later_minutes", "later_late")], id="too late"),
        pytest.param(rule(ASK, later=Later(0, "admin")), [("later_minutes", "later_when")], id="others, but when"),
        pytest.param(rule(ASK, later=Later(9)), [("later_people", "later_nobody")], id="nobody after a while"),
        pytest.param(rule(DENY, later=LATER), [("later", "terms")], id="others where nobody is asked"),
        pytest.param(rule(ASK, needed=2, later=LATER, deciders=Circle(True)), [], id="others join"),
        pytest.param(rule(ASK, reason="x"), [("reason", "reason")], id="a reason without a refusal"),
        pytest.param(rule(ALLOW, risk=HIGH), [("verdict", "high")], id="high never runs by itself"),
        pytest.param(rule(ASK, attended=False), [("verdict", "nobody")], id="nobody to ask"),
        pytest.param(rule(RAISE), [("raise_to", "raise_missing")], id="raised, but where to"),
        pytest.param(rule(ASK, raise_to=HIGH), [("raise_to", "raise_extra")], id="asks and raises"),
        pytest.param(rule(RAISE, raise_to=LOW), [("raise_to", "raise_lower")], id="raised to the lowest"),
        pytest.param(rule(RAISE, risk=MEDIUM, raise_to=MEDIUM), [("raise_to", "raise_lower")], id="raised to the same"),
        pytest.param(rule(DENY, condition={}), [("condition", "always")], id="an empty condition"),
        pytest.param(rule(DENY, condition={"type": "banana"}), [("condition", "schema")], id="no schema"),
        pytest.param(rule(DENY, condition={"pattern": "("}), [("condition", "schema")], id="no pattern"),
        pytest.param(rule(DENY, condition={"pattern": "(a+)+b"}), [("condition", "schema")], id="a slow pattern"),
        pytest.param(rule(ALLOW, condition=OPEN_PATH), [("condition", "required")], id="allowed without the argument"),
        pytest.param(rule(DENY, condition=OPEN_PATH), [], id="refused without it too, if one likes"),
        pytest.param(
            rule(ALLOW, condition={"propertes": {"to": {"pattern": "@ours"}}, "required": ["to"]}),
            [("condition", "unread")],
            id="a misspelt keyword",
        ),
        pytest.param(
            rule(DENY, condition={"properties": {"to": {"patern": "@ours"}}}),
            [("condition", "unread")],
            id="a misspelt keyword further in, which would refuse everything",
        ),
        pytest.param(rule(ALLOW, condition={"allOf": [OPEN_PATH]}), [("condition", "anything")], id="open further in"),
        pytest.param(
            rule(ALLOW, condition={"patternProperties": {"^p": {"pattern": "^reports/"}}}),
            [("condition", "anything")],
            id="names by a pattern need not be there",
        ),
        pytest.param(
            rule(ALLOW, condition={"allOf": [OPEN_PATH], "required": ["path"], "title": "Reports"}),
            [],
            id="closed further in",
        ),
        pytest.param(
            rule(ALLOW, "[", requires_comment=True, condition={"type": 1}),
            [("tool", "glob"), ("requires_comment", "comment"), ("condition", "schema")],
            id="all at once",
        ),
    ],
)
def test_what_keeps_a_rule_from_being_saved(one, expected):
    found = faults(one)
    assert [(each.field, each.key) for each in found] == expected
    for each in found:
        assert MESSAGES[each.key] % each.params


@pytest.mark.parametrize(
    "one",
    [
        FULL,
        rule(ASK),
        rule(ASK, later=Later(30, "reviewer", BUILDER, (ANN,))),
        rule(ASK, wait_minutes=5, needed=2, apart=True, deciders=Circle(True, "admin", BUILDER, (ANN, DEMO))),
        rule(RAISE, raise_to=HIGH, tainted=True),
        rule(ASK, attended=False),
    ],
)
def test_a_rule_comes_back_as_it_was_stored(one):
    assert stored.read("default", 1, [stored.data(one)]) == (one,)


@pytest.mark.parametrize(
    "said",
    [
        pytest.param("text", id="no list"),
        pytest.param(["text"], id="no object"),
        pytest.param([{"tool": "*"}], id="no verdict"),
        pytest.param([{"says": "perhaps"}], id="an unknown verdict"),
        pytest.param([{"says": "allow", "risk": "huge"}], id="an unknown level"),
        pytest.param([{"says": "allow", "agent": {"name": "x"}}], id="an agent without its id"),
        pytest.param([{"says": "allow", "tool": 5}], id="a number for a name"),
        pytest.param([{"says": "allow", "condition": ["path"]}], id="a list for a schema"),
        pytest.param([{"says": "ask", "wait_minutes": -5}], id="a wait that was over before it began"),
        pytest.param([{"says": "ask", "later": {"minutes": 0, "role": "admin"}}], id="others from the beginning"),
        pytest.param([{"says": "ask", "later": {"minutes": 5}}], id="nobody after a while"),
        pytest.param([{"says": "ask", "later": {"role": "admin"}}], id="others, but nobody knows when"),
        pytest.param([{"says": "ask", "needed": -1}], id="less than nobody"),
        pytest.param([{"says": "ask", "deciders": "ann"}], id="a name for people"),
        pytest.param([{"says": "ask", "deciders": {"people": []}}], id="nobody, which must not become everybody"),
        pytest.param([{"says": "ask", "deciders": {"role": "admin", "moon": "full"}}], id="people of a newer program"),
        pytest.param([{"says": "deny", "tainted": "no"}], id="a text for a yes"),
        pytest.param([{"says": "allow", "weekday": "Sunday"}], id="something newer than this program"),
    ],
)
def test_what_cannot_be_read_asks(said):
    (found,) = stored.read("default", 1, said)
    assert found.broken


def test_a_rule_in_words():
    assert described(rule(ASK, risk=MEDIUM)) == "* at medium risk → ask"
    assert line(FULL) == (
        "default v1: no reports (write_* at medium risk of the agent Builder in the team Demo for ann for members "
        "before any untrusted text while somebody attends where the arguments fit "
        '{"properties": {"path": {"pattern": "^reports/", "type": "string"}}, "required"… → deny)'
    )
