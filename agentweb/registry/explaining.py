"""Why a person can use a tool of an agent, or cannot: the whole chain in words, whatever the arguments would be."""

from dataclasses import dataclass
from datetime import datetime

from django.utils.translation import gettext as _

from agentweb.policy.judging import Ruling, judge, matches
from agentweb.policy.matching import Fit, Match
from agentweb.policy.rules import Rule
from agentweb.policy.words import FIELDS, line, sentence
from agentweb.registry.models import Agent, Policy, PolicyVersion, Tool
from agentweb.registry.policies import Who, facts, standing
from agentweb.registry.simulating import VERDICTS, Question, obstacles, team_of
from agentweb.teams.models import Membership, Team, User


@dataclass(frozen=True, slots=True)
class Speaks:
    """A rule that speaks of such calls. ``sure``: of every one; else ``depends`` says on what it depends."""

    words: str
    sure: bool
    depends: str
    decides: bool


@dataclass(frozen=True, slots=True)
class InForce:
    """A version that counts: since when, and by whom it was saved."""

    pk: int
    name: str
    since: datetime
    by: str


@dataclass(frozen=True, slots=True)
class Explained:
    """``verdict`` in words, with what it may be at best and at worst where the arguments decide. ``person`` says who
    they are, ``hindrances`` what keeps every call away, ``silent`` how many rules do not speak of such calls."""

    verdict: str
    why: str
    person: list[str]
    hindrances: list[str]
    rules: list[Speaks]
    silent: int
    versions: list[InForce]


def explain(*, agent: Agent, tool: Tool, user: User, team: Team | None = None) -> Explained:
    """What would become of this person's calls of the tool, by what counts at this moment. Nothing runs."""
    question = Question(agent, tool, user, {}, team)
    team = team_of(question)
    who = Who(agent.pk, team.pk if team else None, user.pk)
    now = standing({tool.name}, who)
    now.risks.setdefault(tool.name, tool.risk)
    known = facts(now, who, tool.name, None)
    assert known is not None
    found = matches(now.rules, known)
    strict, sure = judge(now.rules, known), judge(_sure(found), known)
    return Explained(
        verdict=_verdict(strict, sure, found),
        why=sentence(strict.why, strict.unsure, _),
        person=_person(user, team),
        hindrances=obstacles(question, team, now.role, arguments=False),
        rules=[_speaks(rule, one.fit, one.field, strict) for rule, one in found if one.fit is not Fit.NO],
        silent=sum(one.fit is Fit.NO for _rule, one in found),
        versions=_versions(),
    )


def _sure(found: list[tuple[Rule, Match]]) -> list[Rule]:
    return [rule for rule, one in found if one.fit is Fit.YES]


def _verdict(strict: Ruling, sure: Ruling, found: list[tuple[Rule, Match]]) -> str:
    doubtful = any(one.fit is Fit.UNSURE for _rule, one in found)
    if not doubtful or strict.says == sure.says:
        return str(VERDICTS[strict.says])
    words = _("It depends on the arguments. Where no rule about arguments fits: %(best)s At the strictest: %(worst)s")
    return words % {"best": VERDICTS[sure.says], "worst": VERDICTS[strict.says]}


def _speaks(rule: Rule, fit: Fit, field: str, ruling: Ruling) -> Speaks:
    depends = "" if fit is Fit.YES else _(FIELDS[field]) if field else ""
    return Speaks(line(rule, _), fit is Fit.YES, depends, rule in (ruling.rule, ruling.raised_by))


def _person(user: User, team: Team | None) -> list[str]:
    """Their teams with their roles, and the groups of the admin that they are in."""
    rows = Membership.objects.select_related("team").filter(user=user).order_by("team__name")
    words = [_("%(role)s of %(team)s") % {"role": row.get_role_display(), "team": row.team} for row in rows]
    said = [_("Roles: %(roles)s.") % {"roles": ", ".join(words)} if words else _("In no team.")]
    if groups := list(user.groups.order_by("name").values_list("name", flat=True)):
        said.append(_("Groups: %(groups)s.") % {"groups": ", ".join(groups)})
    if team is not None:
        said.append(_("It is judged for the team %(team)s.") % {"team": team})
    return said


def _versions() -> list[InForce]:
    digests = Policy.objects.filter(enabled=True).exclude(digest="").values("digest")
    rows = PolicyVersion.objects.select_related("by").filter(digest__in=digests).order_by("name")
    return [InForce(row.pk, str(row), row.created_at, str(row.by or "–")) for row in rows]
