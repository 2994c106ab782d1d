"""The list of runs that a reviewer looks through: one page, and what can be asked for."""

from dataclasses import dataclass
from typing import Any

from django.db.models import OuterRef
from django.utils.translation import gettext as _

from agentweb.audit import selectors
from agentweb.audit.filters import STATUSES, Filters
from agentweb.registry.models import Agent, Tool
from agentweb.runs.models import Approval, Run
from agentweb.teams.models import Team
from agentweb.ui.calls import DECISIONS
from agentweb.ui.reasons import OUTCOMES
from agentweb.ui.states import State, listed_state, matters_of

PAGE = 50

Choice = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Row:
    run: Run
    state: State


@dataclass(frozen=True, slots=True)
class Listing:
    """``next`` is the query string of the following page, or empty."""

    rows: list[Row]
    next: str


@dataclass(frozen=True, slots=True)
class Choices:
    """What the form offers, as (value, word) pairs. ``teams`` is empty for who audits a single one."""

    teams: list[Choice]
    agents: list[Choice]
    tools: list[Choice]
    states: list[Choice]
    decisions: list[Choice]


def listing(teams: list[Team], filters: Filters) -> Listing:
    """One page of the runs that match; one query."""
    found = list(filters.apply(selectors.runs_of(teams)).annotate(**matters_of(run=OuterRef("pk")))[: PAGE + 1])
    more = len(found) > PAGE
    return Listing(
        rows=[_row(run) for run in found[:PAGE]],
        next=filters.address(before=str(found[PAGE - 1].public_id)) if more else "",
    )


def _row(run: Any) -> Row:
    return Row(run, listed_state(run.status, run.outcome, bool(run.cancel_requested_at), run.asks, run.open_call))


def choices(teams: list[Team]) -> Choices:
    """Two queries. Agents and tools that were taken out of use stay, since their runs do."""
    agents = Agent.objects.filter(team__in=[*teams]) | Agent.objects.filter(team=None)
    tools = Tool.objects.order_by("label").values_list("name", "label")
    return Choices(
        teams=[(str(team.public_id), team.name) for team in teams] if len(teams) > 1 else [],
        agents=[(str(agent.public_id), agent.name) for agent in agents.order_by("name")],
        tools=[(name, _(label) if label else name) for name, label in tools],
        states=[
            *((status.value, str(status.label)) for status in Run.Status if status.value in STATUSES),
            *((outcome.value, str(word)) for outcome, word in OUTCOMES.items()),
        ],
        decisions=[
            (Approval.Status.PENDING.value, str(Approval.Status.PENDING.label)),
            *((status.value, str(word)) for status, (_css, _icon, word) in DECISIONS.items()),
        ],
    )
