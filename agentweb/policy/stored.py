"""A version of a policy as JSON data and back. What cannot be read comes back as a rule that asks about everything."""

from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any

from agentweb.engine.enums import Risk
from agentweb.engine.terms import Circle, Later, Named
from agentweb.policy.rules import Rule, Says

OF_POLICY = ("policy", "version", "number", "broken")
LATER = frozenset(field.name for field in fields(Later))
CIRCLE = LATER - {"minutes"} | {"requester"}
NAMED = ("agent", "team", "user")
KINDS: dict[str, type | tuple[type, ...]] = {
    **dict.fromkeys(("tool", "role", "reason", "name"), str),
    **dict.fromkeys(("tainted", "attended"), (bool, type(None))),
    **dict.fromkeys(("requires_comment", "apart"), bool),
    **dict.fromkeys(("wait_minutes", "needed"), int),
    "condition": (dict, type(None)),
}
FLAGS = ("tainted", "attended")  # whose no means something, too


def data(rule: Rule) -> dict[str, Any]:
    """Plain JSON of the rule, without what its policy says of it; only what it looks at."""
    names = [field.name for field in fields(rule) if field.name not in OF_POLICY]
    said = {name: _plain(getattr(rule, name)) for name in names}
    return {name: value for name, value in said.items() if _is_said(name, value)}


def _is_said(name: str, value: Any) -> bool:
    return value is not None if name in FLAGS else value not in (None, "", False)


def read(policy: str, version: int, rules: Any) -> tuple[Rule, ...]:
    """The rules of one version. Never raises."""
    if not isinstance(rules, list):
        return (broken(policy, version),)
    return tuple(_read(policy, version, number, each) for number, each in enumerate(rules, 1))


def broken(policy: str, version: int, number: int = 0) -> Rule:
    """What stands for rules that cannot be read: nothing runs because of them, and people are asked."""
    return Rule(policy, version, number, Says.ASK, broken=True)


def _read(policy: str, version: int, number: int, said: Any) -> Rule:
    try:
        return _rule(Rule(policy, version, number, Says(said["says"])), said)
    except (TypeError, ValueError, KeyError, AttributeError):
        return broken(policy, version, number)


def _rule(rule: Rule, said: Mapping[str, Any]) -> Rule:
    values = dict(said)
    for name in ("risk", "raise_to"):
        values[name] = Risk(said[name]) if said.get(name) else None
    for name in NAMED:
        values[name] = _named(said[name]) if said.get(name) else None
    values["later"] = _later(said["later"]) if said.get("later") else None
    values["deciders"] = _circle(said["deciders"]) if said.get("deciders") else None
    values["says"] = rule.says
    if wrong := [name for name, value in values.items() if name in KINDS and not isinstance(value, KINDS[name])]:
        raise TypeError(wrong)
    if min(values.get("wait_minutes", 0), values.get("needed", 0)) < 0:
        raise ValueError("less than nothing")
    return replace(rule, **values)


def _named(said: Mapping[str, Any]) -> Named:
    return Named(int(said["id"]), str(said["name"]))


def _circle(said: Mapping[str, Any]) -> Circle:
    """Raises like ``_rule``: people whom nobody can tell must not become everybody."""
    found = Circle(bool(said.get("requester", False)), *_people(said))
    if not found.names_anyone or set(said) - CIRCLE:
        raise ValueError(said)
    return found


def _later(said: Mapping[str, Any]) -> Later:
    """Raises like ``_rule``."""
    found = Later(int(said["minutes"]), *_people(said))
    if not found.names_anyone or found.minutes < 1 or set(said) - LATER:
        raise ValueError(said)
    return found


def _people(said: Mapping[str, Any]) -> tuple[str, Named | None, tuple[Named, ...]]:
    group = _named(said["group"]) if said.get("group") else None
    return str(said.get("role", "")), group, tuple(map(_named, said.get("people", ())))


def _plain(value: Any) -> Any:
    if isinstance(value, (Circle, Later)):
        names = CIRCLE if isinstance(value, Circle) else LATER
        return {name: each for name in sorted(names) if (each := _plain(getattr(value, name)))}
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if isinstance(value, Named):
        return {"id": value.id, "name": value.name}
    return value.value if isinstance(value, (Risk, Says)) else value
