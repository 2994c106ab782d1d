"""Policies that are tried out before they are saved: their rules stand in place of those in force."""

from collections.abc import Iterable, Mapping, MutableMapping
from dataclasses import dataclass, replace
from typing import Any

from django.utils.translation import gettext as _

from agentweb.policy import stored
from agentweb.policy.rules import Rule
from agentweb.registry.models import Policy, PolicyRule
from agentweb.registry.policies import Standing

KEY = "policy_draft"


@dataclass(frozen=True, slots=True)
class Draft:
    """What a policy would say. ``replaces`` is the name that it has in force, empty for a new one; ``said`` are its
    rules as JSON data, none of them where it would be switched off."""

    replaces: str
    name: str
    said: tuple[Mapping[str, Any], ...]

    @property
    def rules(self) -> tuple[Rule, ...]:
        return stored.read(_("%(policy)s (not saved)") % {"policy": self.name}, 0, list(self.said))

    def instead(self, now: Standing) -> Standing:
        """What would count with the draft in place of what it replaces."""
        others = tuple(rule for rule in now.rules if not self.replaces or rule.policy != self.replaces)
        return replace(now, rules=others + self.rules)


def drafted(policy: Policy, rows: Iterable[PolicyRule], *, replaces: str) -> Draft:
    """The draft of a policy as a form holds it. Reads what its rules name."""
    said = [stored.data(row.as_rule(policy.name, 0, number)) for number, row in enumerate(rows, 1)]
    return Draft(replaces, policy.name, tuple(said) if policy.enabled else ())


def keep(session: MutableMapping[str, Any], draft: Draft) -> None:
    """Remember the draft for this person; the one before is forgotten."""
    session[KEY] = {"replaces": draft.replaces, "name": draft.name, "said": list(draft.said)}


def kept(session: Mapping[str, Any]) -> Draft | None:
    found = session.get(KEY)
    return Draft(found["replaces"], found["name"], tuple(found["said"])) if found else None
