"""Rules and verdicts in words. `say` translates each fixed piece; without it they are English, as in the record."""

import json
from collections.abc import Callable
from enum import StrEnum

from agentweb.policy.rules import Rule, Says

Say = Callable[[str], str]


class Why(StrEnum):
    """What made a verdict; each has its sentence."""

    ALLOWS = "allows"
    ASKS = "asks"
    DENIES = "denies"
    HIGH_ASKS = "high_asks"
    NO_RULE = "no_rule"
    UNSURE_ASKS = "unsure_asks"
    UNSURE_DENIES = "unsure_denies"
    NOBODY = "nobody"


WHY: dict[Why, str] = {
    Why.ALLOWS: "A rule lets it run.",
    Why.ASKS: "A rule wants a person to decide.",
    Why.DENIES: "A rule refuses it.",
    Why.HIGH_ASKS: "A rule would let it run, but calls of high risk are always asked about.",
    Why.NO_RULE: "No rule speaks of it, so a person decides.",
    Why.UNSURE_ASKS: "It cannot be told whether a rule means it (%(field)s), so a person decides.",
    Why.UNSURE_DENIES: "It cannot be told whether a rule that refuses means it (%(field)s), so it is refused.",
    Why.NOBODY: "A person would have to decide, and nobody attends this run.",
}

FIELDS: dict[str, str] = {
    "tool": "the tool",
    "risk": "the risk level",
    "agent": "the agent",
    "team": "the team",
    "user": "who asks",
    "role": "the role of who asks",
    "tainted": "whether untrusted text was read",
    "attended": "whether somebody attends",
    "condition": "the arguments",
    "rule": "the rule cannot be read",
}

RISKS = {"low": "at low risk", "medium": "at medium risk", "high": "at high risk"}
RAISED = {"low": "low risk", "medium": "medium risk", "high": "high risk"}
ROLES = {"member": "for members", "admin": "for admins", "reviewer": "for reviewers"}
SAYS = {Says.ALLOW: "allow", Says.ASK: "ask", Says.DENY: "deny", Says.RAISE: "raise"}
NARROWED = {
    "agent": "of the agent %(name)s",
    "team": "in the team %(name)s",
    "user": "for %(name)s",
    "tainted": "after untrusted text",
    "untainted": "before any untrusted text",
    "attended": "while somebody attends",
    "unattended": "while nobody attends",
    "condition": "where the arguments fit %(schema)s",
}
NO_RULE = "no rule matched"
UNSURE = "not to be told: %(field)s"
RAISED_BY, HIGHER, ALSO = "raised by", "one level higher after untrusted text", "also"
JOINTS = {"raised": RAISED_BY, "higher": HIGHER, "also": ALSO}
LONGEST_CONDITION = 80

PIECES: tuple[str, ...] = tuple(
    dict.fromkeys(
        (
            *(word for table in (WHY, FIELDS, RISKS, RAISED, ROLES, SAYS, NARROWED, JOINTS) for word in table.values()),
            NO_RULE,
            UNSURE,
        )
    )
)
"""Every English piece that is translated where it is shown."""


def sentence(why: Why, unsure: str, say: Say = str) -> str:
    """Why the verdict is what it is."""
    return say(WHY[why]) % {"field": say(FIELDS.get(unsure, unsure))}


def described(rule: Rule, say: Say = str) -> str:
    """The calls that the rule means, and what it says of them: `write_* at medium risk → ask`."""
    says = say(SAYS[rule.says])
    if rule.says is Says.RAISE:
        says += f" {say(RAISED[rule.raise_to or 'high'])}"
    return f"{' '.join([rule.tool, *_narrowed(rule, say)])} → {says}"


def line(rule: Rule, say: Say = str) -> str:
    """The same with policy and version, as events name it; its own name stands for what it means."""
    says = say(FIELDS["rule"]) if rule.broken else described(rule, say)
    return f"{rule.policy} v{rule.version}: {f'{rule.name} ({says})' if rule.name else says}"


def _narrowed(rule: Rule, say: Say) -> list[str]:
    found = [say(RISKS[rule.risk])] if rule.risk else []
    if rule.agent:
        found.append(say(NARROWED["agent"]) % {"name": rule.agent.name})
    if rule.team:
        found.append(say(NARROWED["team"]) % {"name": rule.team.name})
    if rule.user:
        found.append(say(NARROWED["user"]) % {"name": rule.user.name})
    if rule.role:
        found.append(say(ROLES.get(rule.role, rule.role)))
    if rule.tainted is not None:
        found.append(say(NARROWED["tainted" if rule.tainted else "untainted"]))
    if rule.attended is not None:
        found.append(say(NARROWED["attended" if rule.attended else "unattended"]))
    if rule.condition is not None:
        found.append(say(NARROWED["condition"]) % {"schema": _short(rule)})
    return found


def _short(rule: Rule) -> str:
    text = json.dumps(rule.condition, ensure_ascii=False, sort_keys=True)
    return text if len(text) <= LONGEST_CONDITION else f"{text[: LONGEST_CONDITION - 1]}…"
