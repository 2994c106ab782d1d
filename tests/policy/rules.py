"""Rules and facts for tests, with what they do not speak of left out."""

from agentweb.engine.enums import Risk
from agentweb.engine.terms import Named
from agentweb.policy.rules import Facts, Rule, Says

LOW, MEDIUM, HIGH = Risk.LOW, Risk.MEDIUM, Risk.HIGH
ALLOW, ASK, DENY, RAISE = Says.ALLOW, Says.ASK, Says.DENY, Says.RAISE
BUILDER, DEMO, ANN = Named(3, "Builder"), Named(5, "Demo"), Named(7, "ann")
REPORTS = {"properties": {"path": {"type": "string", "pattern": "^reports/"}}, "required": ["path"]}


def rule(says: Says, tool: str = "*", **more) -> Rule:
    return Rule("default", 1, 1, says, tool, **more)


def facts(tool: str = "write_file", risk: Risk = LOW, **more) -> Facts:
    known = {"arguments": {"path": "reports/may.md"}, "agent": 3, "team": 5, "user": 7, "role": "member"}
    return Facts(tool, risk, **known | more)
