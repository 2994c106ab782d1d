"""From rules to a verdict: pure, so that a table of cases can prove it."""

from collections.abc import Iterable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from agentweb.engine.enums import Risk
from agentweb.engine.ports import Allow, Ask, Deny, Verdict

ALLOW, ASK, DENY = "allow", "ask", "deny"
STRICTNESS = {ALLOW: 0, ASK: 1, DENY: 2}
NO_RULE = "no rule matched"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule of a policy. ``tool`` is a glob over names, ``risk`` empty means every level; ``name`` is for people."""

    name: str
    tool: str
    risk: str
    verdict: str
    requires_comment: bool = False
    reason: str = ""


def speaks_of(pattern: str, tool: str) -> bool:
    """Whether a rule's pattern means the tool; upper and lower case differ."""
    return fnmatchcase(tool, pattern)


def verdict(rules: Iterable[Rule], *, tool: str, risk: Risk) -> Verdict:
    """Deny wins over ask, ask over allow; where nothing matches, people are asked.

    A high risk is always asked about, with a comment, whatever a rule allows: who trusts a tool lowers its level."""
    matching = [rule for rule in rules if speaks_of(rule.tool, tool) and rule.risk in ("", risk.value)]
    forced = risk is Risk.HIGH
    if not matching:
        return Ask(NO_RULE, risk, requires_comment=forced)
    strictest = max(matching, key=lambda rule: STRICTNESS.get(rule.verdict, STRICTNESS[DENY]))
    match strictest.verdict:
        case "allow" if not forced:
            return Allow(strictest.name)
        case "allow" | "ask":
            comment = any(rule.requires_comment for rule in matching if rule.verdict == ASK)
            return Ask(strictest.name, risk, requires_comment=comment or forced)
        case _:
            return Deny(strictest.name, strictest.reason or "the team's policy forbids this call")
