"""On which terms people are asked, when several rules ask about one call: each of them must be satisfied."""

from collections.abc import Iterable
from dataclasses import replace

from agentweb.engine.terms import Circle, Terms
from agentweb.policy.rules import Rule

ANY = Terms()


def terms_of(rules: Iterable[Rule]) -> Terms | None:
    """The strictest of what the rules want; None where they want nothing in particular."""
    found = [own_terms(rule) for rule in rules]
    circles: list[Circle] = []
    for one in found:
        circles += [circle for circle in one.circles if circle not in circles]
    merged = Terms(
        wait_minutes=min((one.wait_minutes for one in found if one.wait_minutes), default=0),
        circles=tuple(circles),
        needed=max((one.needed for one in found), default=1),
        apart=any(one.apart for one in found),
    )
    return merged if merged != ANY else None


def own_terms(rule: Rule) -> Terms:
    """What one rule wants."""
    circle = replace(rule.deciders or Circle(), later=rule.later)
    circles = (circle,) if circle.names_anyone or circle.later else ()
    return Terms(rule.wait_minutes, circles, max(rule.needed, 1), rule.apart)


def has_terms(rule: Rule) -> bool:
    return own_terms(rule) != ANY


def each_once(rules: Iterable[Rule]) -> tuple[Rule, ...]:
    """The rules without repetition; they cannot be put into a set, since their conditions can be changed."""
    found: list[Rule] = []
    for rule in rules:
        if rule not in found:
            found.append(rule)
    return tuple(found)
