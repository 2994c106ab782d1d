"""Whether one rule means one call: yes, no, or not to be told, which never works in favour of the call."""

import re
from dataclasses import dataclass
from enum import StrEnum
from fnmatch import fnmatchcase

from agentweb.engine.enums import Risk
from agentweb.policy.rules import Facts, Rule
from agentweb.schema.validate import fits

TOOL_GLOB = re.compile(r"[A-Za-z0-9_*-]{1,100}")
"""A tool's name in which * stands for any characters."""


class Fit(StrEnum):
    YES = "yes"
    NO = "no"
    UNSURE = "unsure"


@dataclass(frozen=True, slots=True)
class Match:
    """``field``: the field of the rule that does not fit, or that cannot be told to."""

    fit: Fit
    field: str = ""


YES = Match(Fit.YES)


def speaks_of(glob: str, tool: str) -> bool:
    """Whether a rule's pattern means the tool; upper and lower case differ."""
    return fnmatchcase(tool, glob)


def match(rule: Rule, facts: Facts, risk: Risk) -> Match:
    """Whether the rule means the call at this risk level. A field that surely does not fit settles it.

    The arguments come last, since checking them is the only thing that costs time."""
    if rule.broken:
        return Match(Fit.UNSURE, "rule")
    unsure = ""
    for field, fit in _circumstances(rule, facts, risk):
        if fit is Fit.NO:
            return Match(fit, field)
        unsure = unsure or (field if fit is Fit.UNSURE else "")
    arguments = _arguments(rule, facts)
    if arguments is Fit.NO:
        return Match(Fit.NO, "condition")
    if unsure or arguments is Fit.UNSURE:
        return Match(Fit.UNSURE, unsure or "condition")
    return YES


def _circumstances(rule: Rule, facts: Facts, risk: Risk) -> tuple[tuple[str, Fit], ...]:
    return (
        ("tool", _tool(rule.tool, facts.tool)),
        ("risk", _same(rule.risk, risk)),
        ("agent", _same(rule.agent and rule.agent.id, facts.agent)),
        ("team", _same(rule.team and rule.team.id, facts.team)),
        ("user", _same(rule.user and rule.user.id, facts.user)),
        ("role", _same(rule.role or None, facts.role)),
        ("tainted", _same(rule.tainted, facts.tainted)),
        ("attended", _same(rule.attended, facts.attended)),
    )


def _tool(glob: str, tool: str) -> Fit:
    if not TOOL_GLOB.fullmatch(glob):
        return Fit.UNSURE
    return Fit.YES if speaks_of(glob, tool) else Fit.NO


def _same(wanted: object, found: object) -> Fit:
    if wanted is None:
        return Fit.YES
    if found is None:
        return Fit.UNSURE
    return Fit.YES if wanted == found else Fit.NO


def _arguments(rule: Rule, facts: Facts) -> Fit:
    if rule.condition is None:
        return Fit.YES
    if facts.arguments is None:
        return Fit.UNSURE
    fit = fits(dict(rule.condition), dict(facts.arguments))
    return Fit.UNSURE if fit is None else Fit.YES if fit else Fit.NO
