"""What is wrong with a rule before it may be saved: the field, and the sentence that says it."""

import dataclasses
from dataclasses import dataclass
from typing import Any

from agentweb.engine.enums import Risk
from agentweb.policy.matching import TOOL_GLOB
from agentweb.policy.rules import Rule, Says
from agentweb.schema.check import check_any, unread
from agentweb.schema.validate import fits

MOST_NAMES = 5  # that one sentence names

MESSAGES: dict[str, str] = {
    "glob": "Enter a tool name: letters, digits, _ and -; * stands for any characters.",
    "comment": "A comment can only be required where people are asked.",
    "terms": "Only a rule that asks says on which terms people decide.",
    "alone": "One person alone cannot be several: name others too, or ask for one approval.",
    "few": "So many people are not named here.",
    "later_when": "Say after how many minutes.",
    "later_nobody": "Say who may decide as well from then on.",
    "later_late": "By then the time to decide is over.",
    "apart_alone": "Who asked may not approve, and nobody else is named.",
    "reason": "Only a rule that refuses gives a reason.",
    "high": "Calls of high risk are always asked about, so this rule would never let one run.",
    "nobody": "While nobody attends, nobody can be asked: say “Refuse”.",
    "raise_missing": "Say which level the call is raised to.",
    "raise_extra": "Only a rule that raises the risk level names a level to raise it to.",
    "raise_lower": "A level can only be raised: choose one above the level that the rule speaks of.",
    "schema": "This is no JSON Schema: %(problem)s",
    "always": "Any arguments fit this. Leave it empty, or say what they must be.",
    "unread": "Nothing would look at %(names)s: JSON Schema has no such keyword there. Check the spelling.",
    "anything": "A call without arguments fits this. What lets calls run must say with “required” which are needed.",
    "required": "What lets calls run must say that these arguments are there, with “required”: %(names)s.",
}
"""English sentence by key; a translating layer wraps exactly these."""


@dataclass(frozen=True, slots=True)
class Fault:
    """``field`` is the field of the rule; ``key`` names the sentence."""

    field: str
    key: str
    params: dict[str, Any] = dataclasses.field(default_factory=dict)


def faults(rule: Rule) -> list[Fault]:
    """What keeps the rule from meaning what it says; empty when it may be saved."""
    found = [*_contradictions(rule), *_terms(rule), *_raising(rule), *_condition(rule)]
    return found if TOOL_GLOB.fullmatch(rule.tool) else [Fault("tool", "glob"), *found]


def _contradictions(rule: Rule) -> list[Fault]:
    found = []
    if rule.requires_comment and rule.says is not Says.ASK:
        found.append(Fault("requires_comment", "comment"))
    if rule.reason and rule.says is not Says.DENY:
        found.append(Fault("reason", "reason"))
    if rule.says is Says.ALLOW and rule.risk is Risk.HIGH:
        found.append(Fault("verdict", "high"))
    if rule.says is Says.ASK and rule.attended is False:
        found.append(Fault("verdict", "nobody"))
    return found


def _terms(rule: Rule) -> list[Fault]:
    """Terms that nobody could ever fulfil, or that belong to no such rule."""
    if rule.says is not Says.ASK:
        said = {name: getattr(rule, name) for name in ("wait_minutes", "needed", "apart", "deciders", "later")}
        return [Fault(name, "terms") for name, value in said.items() if value]
    return [*_later(rule), *_deciders(rule)]


def _later(rule: Rule) -> list[Fault]:
    later = rule.later
    if later is None:
        return []
    found = [] if later.names_anyone else [Fault("later_people", "later_nobody")]
    if later.minutes < 1:
        return [*found, Fault("later_minutes", "later_when")]
    late = 0 < rule.wait_minutes <= later.minutes
    return [*found, Fault("later_minutes", "later_late")] if late else found


def _deciders(rule: Rule) -> list[Fault]:
    circle = rule.deciders
    if circle is None or circle.role or circle.group or rule.later:
        return []  # how many people that is, only time tells
    if not circle.people:
        found = [Fault("needed", "alone")] if rule.needed > 1 else []
        return [*found, Fault("apart", "apart_alone")] if rule.apart else found
    named = len(circle.people) + circle.requester
    return [Fault("needed", "few")] if rule.needed > named else []


def _raising(rule: Rule) -> list[Fault]:
    if rule.says is not Says.RAISE:
        return [Fault("raise_to", "raise_extra")] if rule.raise_to else []
    if rule.raise_to is None:
        return [Fault("raise_to", "raise_missing")]
    levels = list(Risk)
    lowest = levels.index(rule.risk or Risk.LOW)
    return [] if levels.index(rule.raise_to) > lowest else [Fault("raise_to", "raise_lower")]


def _condition(rule: Rule) -> list[Fault]:
    if rule.condition is None:
        return []
    condition = dict(rule.condition)
    if not condition:
        return [Fault("condition", "always")]
    if problems := check_any(condition):
        first = problems[0]
        return [Fault("condition", "schema", {"problem": first})]
    if names := unread(condition):
        return [Fault("condition", "unread", {"names": ", ".join(names[:MOST_NAMES])})]
    return _open(condition) if rule.says is Says.ALLOW else []


def _open(condition: dict[str, Any]) -> list[Fault]:
    """An argument that is left out fits whatever a schema says of it, so a rule that allows must want it there."""
    described, required = condition.get("properties", {}), condition.get("required", [])
    names = [name for name, schema in described.items() if name not in required and schema not in (True, {}, False)]
    if names:
        return [Fault("condition", "required", {"names": ", ".join(names)})]
    return [Fault("condition", "anything")] if fits(condition, {}) else []
