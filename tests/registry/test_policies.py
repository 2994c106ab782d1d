"""From rules to a verdict, as a table."""

import pytest

from agentweb.engine.enums import Risk
from agentweb.engine.ports import Allow, Ask, Deny
from agentweb.registry.policies import NO_RULE, Rule, verdict

LOW, MEDIUM, HIGH = Risk.LOW, Risk.MEDIUM, Risk.HIGH
ALLOW_ALL = Rule("all run", "*", "", "allow")
ASK_ALL = Rule("all ask", "*", "", "ask")
ASK_SAYING = Rule("say why", "*", "", "ask", requires_comment=True)
DENY_FILES = Rule("no files", "*_file", "", "deny", reason="files are frozen")
LOW_RUNS = Rule("low runs", "*", "low", "allow")
MEDIUM_ASKS = Rule("medium asks", "*", "medium", "ask")
CLOCK = Rule("clock", "current_time", "", "allow")


@pytest.mark.parametrize(
    ("rules", "tool", "risk", "expected"),
    [
        pytest.param([], "weather", LOW, Ask(NO_RULE, LOW), id="no rule at all: people are asked"),
        pytest.param([], "weather", HIGH, Ask(NO_RULE, HIGH, True), id="no rule at high risk: with a comment"),
        pytest.param([MEDIUM_ASKS], "weather", LOW, Ask(NO_RULE, LOW), id="no rule for this level"),
        pytest.param([CLOCK], "weather", LOW, Ask(NO_RULE, LOW), id="no rule for this tool"),
        pytest.param([LOW_RUNS], "weather", LOW, Allow("low runs"), id="low runs"),
        pytest.param([LOW_RUNS, MEDIUM_ASKS], "write_file", MEDIUM, Ask("medium asks", MEDIUM), id="medium asks"),
        pytest.param([ALLOW_ALL, ASK_ALL], "weather", LOW, Ask("all ask", LOW), id="ask wins over allow"),
        pytest.param([ASK_ALL, ALLOW_ALL], "weather", LOW, Ask("all ask", LOW), id="in either order"),
        pytest.param(
            [DENY_FILES, ASK_ALL, ALLOW_ALL], "read_file", LOW, Deny("no files", "files are frozen"), id="deny wins"
        ),
        pytest.param([ALLOW_ALL, DENY_FILES], "weather", LOW, Allow("all run"), id="a pattern means its tools only"),
        pytest.param([CLOCK], "current_time", MEDIUM, Allow("clock"), id="an exact name"),
        pytest.param([CLOCK], "Current_time", LOW, Ask(NO_RULE, LOW), id="upper and lower case differ"),
        pytest.param([ASK_ALL, ASK_SAYING], "x", LOW, Ask("all ask", LOW, True), id="one rule wants a comment"),
        pytest.param([ALLOW_ALL], "delete_file", HIGH, Ask("all run", HIGH, True), id="high is never simply allowed"),
        pytest.param([ASK_ALL], "delete_file", HIGH, Ask("all ask", HIGH, True), id="high always wants a comment"),
        pytest.param([DENY_FILES], "delete_file", HIGH, Deny("no files", "files are frozen"), id="high may be denied"),
        pytest.param(
            [Rule("odd", "*", "", "perhaps")],
            "weather",
            LOW,
            Deny("odd", "the team's policy forbids this call"),
            id="a verdict that does not exist denies",
        ),
    ],
)
def test_the_verdict(rules, tool, risk, expected):
    assert verdict(rules, tool=tool, risk=risk) == expected
