"""What would become of one call, in words: who may use a tool, and why. Nothing runs and nothing is stored."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agentweb.engine.ports import Ask, Deny
from agentweb.engine.ports import Tool as CodeTool
from agentweb.policy.judging import Ruling, judge, matches
from agentweb.policy.matching import Fit
from agentweb.policy.rules import Rule, Says
from agentweb.policy.terms_words import told
from agentweb.policy.words import FIELDS, line, sentence
from agentweb.registry import catalog
from agentweb.registry.drafts import Draft
from agentweb.registry.models import Agent, Risk, Tool
from agentweb.registry.policies import Who, facts, standing
from agentweb.registry.problem_words import in_words
from agentweb.schema.validate import validate
from agentweb.teams.models import Membership, Team, User

VERDICTS = {
    Says.ALLOW: gettext_lazy("It would run."),
    Says.ASK: gettext_lazy("People would be asked."),
    Says.DENY: gettext_lazy("It would be refused."),
}


@dataclass(frozen=True, slots=True)
class Question:
    """One call to be judged. Without ``team``: the agent's, else the only one that the person is in. ``draft``: rules
    that count in place of saved ones."""

    agent: Agent
    tool: Tool
    user: User
    arguments: Mapping[str, Any]
    team: Team | None = None
    tainted: bool = False
    attended: bool = True
    draft: Draft | None = None


@dataclass(frozen=True, slots=True)
class RuleLine:
    """A rule in force and how it stands to the call; ``doubt`` names what does not fit or cannot be told to."""

    words: str
    fit: Fit
    doubt: str
    decided: bool


@dataclass(frozen=True, slots=True)
class Simulated:
    """The verdict in words. ``obstacles`` keep such a call from reaching the rules at all; then ``ruling`` says what
    the rules alone would make of it."""

    ruling: Ruling
    verdict: str
    why: str
    rule: str
    notes: list[str]
    obstacles: list[str]
    lines: list[RuleLine]


def simulate(question: Question) -> Simulated:
    """Judge the call by what counts at this moment, as a worker would."""
    team = team_of(question)
    who = Who(question.agent.pk, team.pk if team else None, question.user.pk)
    now = standing({question.tool.name}, who)
    if question.draft:
        now = question.draft.instead(now)
    now.risks.setdefault(question.tool.name, Risk(question.tool.risk))  # of a tool that is off, the rules still speak
    known = facts(
        now,
        who,
        question.tool.name,
        dict(question.arguments),
        tainted=question.tainted,
        attended=question.attended,
        acts=_acts(question.tool),
    )
    ruling = judge(now.rules, known)
    return Simulated(
        ruling=ruling,
        verdict=str(VERDICTS[ruling.says]),
        why=sentence(ruling.why, ruling.unsure, _),
        rule=line(ruling.rule, _) if ruling.rule else "",
        notes=_notes(question, ruling),
        obstacles=obstacles(question, team, now.role),
        lines=[_line(rule, found.fit, found.field, ruling) for rule, found in matches(now.rules, known)],
    )


def _acts(tool: Tool) -> bool:
    """Whether it changes or sends something; what is not in the code is taken to."""
    code = catalog.find_one(tool.name)
    return code is None or not code.spec.reads or tool.outbound


def team_of(question: Question) -> Team | None:
    """The team that the call would be judged for; None where that cannot be told."""
    if question.team or question.agent.team:
        return question.team or question.agent.team
    teams = [row.team for row in Membership.objects.select_related("team").filter(user=question.user)[:2]]
    return teams[0] if len(teams) == 1 else None


def _problems(code: CodeTool, arguments: dict[str, Any]) -> list[str]:
    """What is wrong with the arguments; what the tool itself finds is said as it says it."""
    return [in_words(each) for each in validate(code.spec.parameters, arguments)] or code.problems(arguments)


def _line(rule: Rule, fit: Fit, field: str, ruling: Ruling) -> RuleLine:
    decided = rule in (ruling.rule, ruling.raised_by)
    return RuleLine(line(rule, _), fit, _(FIELDS[field]) if field else "", decided)


def _notes(question: Question, ruling: Ruling) -> list[str]:
    found = []
    if ruling.raised_by:
        words = _("The risk level of the tool is %(own)s; for this call it is raised to %(level)s, by: %(rule)s")
        own, level = Risk(question.tool.risk).label, Risk(ruling.level).label
        found.append(words % {"own": own, "level": level, "rule": line(ruling.raised_by, _)})
    else:
        found.append(_("The risk level of the tool is %(own)s.") % {"own": Risk(question.tool.risk).label})
    if ruling.by_taint:
        found.append(_("After untrusted text, a call that changes or sends something is judged one level higher."))
    if ruling.requires_comment:
        found.append(_("Who decides must write a comment."))
    if isinstance(ruling.verdict, Ask) and ruling.verdict.terms:
        found.append(_("It takes %(terms)s.") % {"terms": told(ruling.verdict.terms, _)})
    if isinstance(ruling.verdict, Deny):
        found.append(_("The model is told: %(reason)s") % {"reason": ruling.verdict.reason})
    return found


def obstacles(question: Question, team: Team | None, role: str | None, *, arguments: bool = True) -> list[str]:
    """What stands between this person and such a call, before any rule; ``arguments``: whether those count."""
    agent, tool, user = question.agent, question.tool, question.user
    code = catalog.find_one(tool.name)
    problems = _problems(code, dict(question.arguments)) if code and arguments else []
    says = {
        _("The agent %(agent)s is switched off."): not agent.enabled,
        _("The agent %(agent)s does not have this tool, so no new run of it can call it."): (
            not agent.tools.filter(pk=tool.pk).exists()
        ),
        _("The tool %(tool)s is switched off: every call of it is refused."): not tool.enabled,
        _("The tool %(tool)s does not exist in the code of this site."): code is None,
        _("The tool %(tool)s is a draft: every call of it is refused."): tool.state == Tool.State.DRAFT,
        _("The tool %(tool)s is on hold: every call of it is refused."): tool.state == Tool.State.HELD,
        _("The agent %(agent)s works for another team only."): bool(agent.team and team and agent.team != team),
        _("%(user)s is in several teams or in none: choose a team."): team is None,
        _("%(user)s is not in the team %(team)s."): team is not None and role is None,
        _("%(user)s may not sign in."): not user.is_active,
        _("The arguments do not fit the tool: %(problems)s"): bool(problems),
    }
    names = {"agent": agent.name, "tool": tool.name, "user": user, "team": team, "problems": " ".join(problems)}
    return [words % names for words, holds in says.items() if holds]
