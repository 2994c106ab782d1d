"""How emergency stops begin and end, and who may see to that."""

from typing import Any

from django.db import transaction
from django.db.models import Count, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext as _

from agentweb.registry.models import Agent, Tool
from agentweb.runs import journal, live, outbox
from agentweb.runs.errors import Conflict, Forbidden, Invalid, NotFound
from agentweb.runs.halts import affected
from agentweb.runs.models import Halt, Run
from agentweb.runs.words import words_of
from agentweb.teams.models import Membership, Role, Team, User

MAX_REASON = 300
MOST_TOLD = 200  # workers find the rest by themselves half a second later


def may_everywhere(user: User) -> bool:
    return bool(user.is_active and user.has_perm("runs.add_halt"))


def teams_for(user: User) -> list[Team]:
    """The teams in which the person may stop something."""
    teams = Team.objects.order_by("name")
    return list(teams if may_everywhere(user) else teams.filter(memberships__user=user, memberships__role=Role.ADMIN))


def halts_for(user: User) -> QuerySet[Halt]:
    """The stops that concern the person's teams, the newest first, each with ``holds``, the number of held runs."""
    found = Halt.objects.select_related("agent", "team", "by", "ended_by")
    if not may_everywhere(user):
        admin_of = Membership.objects.filter(user=user, role=Role.ADMIN).values("team")
        found = found.filter(Q(team=None) | Q(team__in=admin_of))
    return found.annotate(holds=Count("held_runs", filter=Q(held_runs__status=Run.Status.WAITING)))


def halt_for(user: User, public_id: Any) -> Halt:
    """With ``may_lift``. Raises NotFound."""
    found = halts_for(user).filter(public_id=public_id).first() if teams_for(user) else None
    if found is None:
        raise NotFound(_("There is no such emergency stop, or it is not yours to see."))
    return mark(user, [found])[0]


def mark(user: User, halts: list[Halt]) -> list[Halt]:
    """The same, each with ``may_lift``: who may begin such a stop may end it."""
    everywhere, teams = may_everywhere(user), {team.pk for team in teams_for(user)}
    for halt in halts:
        halt.may_lift = halt.ended_at is None and (everywhere or halt.team_id in teams)
    return halts


def choose(user: User, *, kind: str, agent: str, tool: str, team: str | None) -> dict[str, Any]:
    """What ``begin`` takes, from the public ids of an agent and a team and the name of a tool; None: in all teams.

    Raises Invalid with the field named."""
    row = next((each for each in teams_for(user) if str(each.public_id) == team), None)
    if row is None and not (team is None and may_everywhere(user)):
        raise _unknown("team", _("Choose where."))
    found = next((each for each in agents_for(user) if str(each.public_id) == agent), None)
    known: dict[str, bool] = {
        Halt.Kind.ALL.value: not agent and not tool,
        Halt.Kind.AGENT.value: found is not None and not tool,
        Halt.Kind.TOOL.value: not agent and Tool.objects.filter(name=tool).exists(),
    }
    if not known.get(kind):
        raise _unknown("kind", _("Choose what to stop."))
    return {"kind": kind, "agent": found, "tool": tool, "team": row}


def agents_for(user: User) -> QuerySet[Agent]:
    """The agents that the person may stop."""
    agents = Agent.objects.filter(enabled=True)
    return agents if may_everywhere(user) else agents.filter(Q(team=None) | Q(team__in=teams_for(user)))


def _unknown(field: str, words: str) -> Invalid:
    return Invalid(words, [(field, words)])


def begin(*, user: User, kind: str, agent: Agent | None, tool: str, team: Team | None, reason: Any) -> Halt:
    """Stop it: what is at work on it ends within seconds, what comes to it is held. Raises Forbidden, Invalid."""
    if not (may_everywhere(user) or (team is not None and team in teams_for(user))):
        raise Forbidden(_("Only admins of the team can stop something there, and only staff everywhere."))
    reason = words_of("reason", reason, MAX_REASON)
    if not reason:
        words = _("Say why; people read it where their work is held.")
        raise Invalid(words, [("reason", words)])
    with transaction.atomic():
        halt = Halt.objects.create(kind=kind, agent=agent, tool=tool, team=team, reason=reason, by=user)
        runs = list(affected(kind=kind, agent=agent, tool=tool, team=team)[:MOST_TOLD])
        for run in runs:
            outbox.touch(run)
        transaction.on_commit(lambda: _tell(runs), robust=True)
    return halt


def _tell(runs: list[Run]) -> None:
    for run in runs:
        if run.status == Run.Status.RUNNING:
            live.control(str(run.public_id))


def lift(*, user: User, halt: Halt) -> int:
    """Let it go on: the runs that were held go back into the queue. How many. Raises Forbidden, Conflict."""
    if halt.ended_at is None and not halt.may_lift:
        raise Forbidden(_("Only who may stop this can let it go on."))
    with transaction.atomic():
        changed = Halt.objects.filter(pk=halt.pk, ended_at=None).update(ended_at=timezone.now(), ended_by=user)
        if not changed:
            raise Conflict(_("This was let go on already."), {})
        return release(halt)


def release(halt: Halt) -> int:
    """Queue the runs that a stop that has ended still holds; another stop may hold them again."""
    runs = list(Run.objects.select_related("conversation").filter(halt=halt).order_by("pk"))
    Run.objects.filter(halt=halt).exclude(status=Run.Status.WAITING).update(halt=None)
    for run in runs:
        if run.status == Run.Status.WAITING:
            journal.mark_queued(run, release=True)
            outbox.touch(run)
    return len(runs)
