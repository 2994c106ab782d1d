"""The verdict on one call: deny wins over ask, ask over allow, and where no rule matches, people are asked."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from agentweb.engine.enums import Risk
from agentweb.engine.ports import Allow, Ask, Deny, Verdict
from agentweb.policy.asking import each_once, has_terms, terms_of
from agentweb.policy.matching import Fit, Match, match
from agentweb.policy.rules import Facts, Rule, Says
from agentweb.policy.words import ALSO, FIELDS, HIGHER, NO_RULE, RAISED_BY, UNSURE, Why, line, sentence

LEVELS = (Risk.LOW, Risk.MEDIUM, Risk.HIGH)
STRICTNESS = {Says.ALLOW: 0, Says.ASK: 1, Says.DENY: 2}
FORBIDDEN = "the team's policy forbids this call"


@dataclass(frozen=True, slots=True)
class Ruling:
    """The outcome of judging a call, with all that made it. ``rule`` decided, at ``level``; None: no rule matched.

    ``raised_by`` has made the level higher than the tool's own; ``by_taint``: untrusted text has. ``unsure`` names the
    field of ``rule`` that could not be told to fit. ``why`` names the sentence for people. ``asking``: the rules on
    whose terms people are asked."""

    says: Says
    level: Risk
    why: Why
    rule: Rule | None = None
    raised_by: Rule | None = None
    requires_comment: bool = False
    unsure: str = ""
    asking: tuple[Rule, ...] = ()
    by_taint: bool = False

    @property
    def recorded(self) -> str:
        """The rule as events name it: policy, version and what it says, what was in doubt, what raised the level, and
        the other rules that have terms. A decision is bound to these words, thus to all those versions."""
        words = NO_RULE if self.rule is None else line(self.rule)
        if self.unsure:
            words += f" ({UNSURE % {'field': FIELDS[self.unsure]}})"
        words += f"; {RAISED_BY} {line(self.raised_by)}" if self.raised_by else ""
        words += f"; {HIGHER}" if self.by_taint else ""
        return words + "".join(f"; {ALSO} {line(rule)}" for rule in self.asking if rule != self.rule)

    @property
    def verdict(self) -> Verdict:
        """The same for the loop."""
        if self.says is Says.ALLOW:
            return Allow(self.recorded)
        if self.says is Says.ASK:
            return Ask(self.recorded, self.level, requires_comment=self.requires_comment, terms=terms_of(self.asking))
        return Deny(self.recorded, self._reason())

    def _reason(self) -> str:
        """For the model, so in English. A rule's own reason speaks of calls that it surely means."""
        if self.why is Why.DENIES:
            return (self.rule.reason if self.rule else "") or FORBIDDEN
        words = sentence(self.why, self.unsure)
        return f"{words[:1].lower()}{words[1:]}".removesuffix(".")


@dataclass(frozen=True, slots=True)
class _Found:
    rule: Rule
    says: Says
    unsure: str


def judge(rules: Iterable[Rule], facts: Facts) -> Ruling:
    """What becomes of the call. Pure, and it never raises.

    A level that a rule raises is judged besides the tool's own, and the stricter verdict counts: raising never helps
    a call. High risk is always asked about, with a comment, whatever a rule allows: who trusts a tool lowers its level.
    """
    rules = tuple(rules)
    top, raised_by = _raised(rules, facts)
    levels = _levels(facts, top)
    rulings = [_at(level, rules, facts) for level in levels]
    strictest = max(reversed(rulings), key=lambda ruling: STRICTNESS[ruling.says])
    asks = strictest.says is Says.ASK
    comment = asks and any(ruling.requires_comment for ruling in rulings)
    asking = each_once(rule for ruling in rulings for rule in ruling.asking) if asks else ()
    ruling = replace(
        strictest,
        level=levels[-1],
        raised_by=raised_by,
        by_taint=_one_higher(facts),
        requires_comment=comment,
        asking=asking,
    )
    return ruling if facts.attended else _unattended(ruling)


def matches(rules: Iterable[Rule], facts: Facts) -> list[tuple[Rule, Match]]:
    """Each rule with how it stands to the call, for people who want to know why."""
    rules = tuple(rules)
    top, _by = _raised(rules, facts)
    levels = _levels(facts, top)
    return [(rule, _best([match(rule, facts, level) for level in _levels_for(rule, facts, levels)])) for rule in rules]


def _levels(facts: Facts, top: Risk) -> tuple[Risk, ...]:
    """The levels that the call is judged at: from the tool's own to the one that rules raise it to, and to the next one
    when something is changed or sent after text was read that nobody vouches for."""
    own = LEVELS.index(facts.risk)
    return LEVELS[own : max(LEVELS.index(top), own + _one_higher(facts)) + 1]


def _one_higher(facts: Facts) -> bool:
    return facts.tainted and facts.acts and facts.risk is not Risk.HIGH


def _levels_for(rule: Rule, facts: Facts, levels: Sequence[Risk]) -> Sequence[Risk]:
    return (facts.risk,) if rule.says is Says.RAISE else levels


def _best(found: list[Match]) -> Match:
    order = (Fit.YES, Fit.UNSURE, Fit.NO)
    return min(found, key=lambda one: order.index(one.fit))


def _raised(rules: Sequence[Rule], facts: Facts) -> tuple[Risk, Rule | None]:
    """The level that rules raise the call to, from the tool's own; a rule of which it cannot be told raises it too."""
    top, by = facts.risk, None
    for rule in rules:
        if rule.says is Says.RAISE and match(rule, facts, facts.risk).fit is not Fit.NO:
            to = rule.raise_to or Risk.HIGH
            if LEVELS.index(to) > LEVELS.index(top):
                top, by = to, rule
    return top, by


def _at(level: Risk, rules: Sequence[Rule], facts: Facts) -> Ruling:
    """The verdict at one level."""
    found = [one for rule in rules if (one := _found(rule, facts, level)) is not None]
    forced = level is Risk.HIGH
    if not found:
        return Ruling(Says.ASK, level, Why.NO_RULE, requires_comment=forced)
    strictest = max(found, key=lambda one: (STRICTNESS[one.says], not one.unsure))
    if strictest.says is Says.ALLOW and not forced:
        return Ruling(Says.ALLOW, level, Why.ALLOWS, strictest.rule)
    if strictest.says is Says.DENY:
        why = Why.UNSURE_DENIES if strictest.unsure else Why.DENIES
        return Ruling(Says.DENY, level, why, strictest.rule, unsure=strictest.unsure)
    why = Why.UNSURE_ASKS if strictest.unsure else Why.ASKS if strictest.says is Says.ASK else Why.HIGH_ASKS
    comment = forced or any(one.rule.requires_comment for one in found if one.rule.says is Says.ASK)
    asking = tuple(one.rule for one in found if one.rule.says is Says.ASK and has_terms(one.rule))
    return Ruling(Says.ASK, level, why, strictest.rule, None, comment, strictest.unsure, asking)


def _found(rule: Rule, facts: Facts, level: Risk) -> _Found | None:
    """What the rule says of the call; one that cannot be told to fit asks at least."""
    if rule.says is Says.RAISE:
        return None
    found = match(rule, facts, level)
    if found.fit is Fit.NO:
        return None
    if found.fit is Fit.UNSURE:
        return _Found(rule, max(rule.says, Says.ASK, key=STRICTNESS.__getitem__), found.field)
    return _Found(rule, rule.says, "")


def _unattended(ruling: Ruling) -> Ruling:
    if ruling.says is not Says.ASK:
        return ruling
    return Ruling(Says.DENY, ruling.level, Why.NOBODY, ruling.rule, ruling.raised_by, unsure=ruling.unsure)
