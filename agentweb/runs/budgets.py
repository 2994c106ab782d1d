"""The engine's look at the budgets that speak of a run, as they are set up now, with what is recorded as spent."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.db.models import BigAutoField, Q, Sum
from django.utils import timezone

from agentweb.engine.budgets import Budget, Grant, amount
from agentweb.engine.enums import Unit
from agentweb.registry.models import Budget as BudgetRow
from agentweb.runs.models import Run, Spending, TopUp
from agentweb.runs.spending import COUNTED, month_of
from agentweb.runs.transcripts import usage_of
from agentweb.teams import fixed

Look = Callable[[], tuple[Budget, ...]]
Scope, Period = BudgetRow.Scope, BudgetRow.Period


@dataclass(frozen=True, slots=True)
class Share:
    """In whose budgets a run shares: the row ids of its team and agent and of who asked for it."""

    run: int
    team: int
    agent: int
    user: int

    def of(self, scope: str) -> int | None:
        return {Scope.TEAM: self.team, Scope.AGENT: self.agent, Scope.USER: self.user}.get(Scope(scope))


_IN_FORCE = fixed.Query(
    lambda team, agent, user: (
        BudgetRow.objects.select_related("team", "agent", "user")
        .filter(
            Q(scope=Scope.ALL)
            | (Q(scope=Scope.TEAM) & (Q(team=None) | Q(team=team)))
            | (Q(scope=Scope.AGENT) & (Q(agent=None) | Q(agent=agent)))
            | (Q(scope=Scope.USER) & (Q(user=None) | Q(user=user))),
            enabled=True,
        )
        .order_by("pk")
    ),
    team=BigAutoField(),
    agent=BigAutoField(),
    user=BigAutoField(),
)


class RunBudgets:
    """Implements the engine's Budgets for one run. One query where there are no budgets, four at most."""

    def __init__(self, share: Share, in_thread: Callable[[Look], Awaitable[tuple[Budget, ...]]]) -> None:
        self._share = share
        self._in_thread = in_thread

    async def current(self) -> tuple[Budget, ...]:
        return await self._in_thread(lambda: current(self._share))


def current(share: Share) -> tuple[Budget, ...]:
    """The budgets in force, each with what has been spent of it and granted for it."""
    rows: list[BudgetRow] = _IN_FORCE.all(team=share.team, agent=share.agent, user=share.user)
    if not rows:
        return ()
    month = month_of(timezone.now())
    pots = {row.pk: _pot(row, share, f"{month:%Y-%m}") for row in rows}
    spent = _spent(rows, share, month)
    grants = TopUp.objects.filter(pot__in=set(pots.values()), budget__in=pots).order_by("pk")
    given: dict[int, list[Grant]] = {pk: [] for pk in pots}
    for grant in grants:
        if pots[grant.budget_id] == grant.pot:
            given[grant.budget_id].append(Grant(grant.amount, grant.spent))
    return tuple(_budget(row, pots[row.pk], spent[row.pk], given[row.pk]) for row in rows)


def _pot(row: BudgetRow, share: Share, month: str) -> str:
    """The period of a budget, and whose: what is granted is granted for that."""
    if row.period == Period.RUN:
        return f"run {share.run}"
    whose = share.of(row.scope)
    return f"{month} {row.scope}" if whose is None else f"{month} {row.scope} {whose}"


def _spent(rows: Iterable[BudgetRow], share: Share, month: Any) -> dict[int, Decimal]:
    """By budget, what is recorded: of the run from its own row, of the month as one sum over its accounts."""
    run = Run.objects.get(pk=share.run) if any(row.period == Period.RUN for row in rows) else None
    sums = {
        f"{row.scope}_{COUNTED[Unit(row.unit)]}": Sum(COUNTED[Unit(row.unit)], filter=_account(row, share), default=0)
        for row in rows
        if row.period == Period.MONTH
    }
    found = Spending.objects.filter(month=month).aggregate(**sums) if sums else {}
    return {
        row.pk: amount(usage_of(run), Unit(row.unit))
        if run is not None and row.period == Period.RUN
        else Decimal(found[f"{row.scope}_{COUNTED[Unit(row.unit)]}"])
        for row in rows
    }


def _account(row: BudgetRow, share: Share) -> Q:
    whose = share.of(row.scope)
    return Q() if whose is None else Q(**{row.scope: whose})


def _budget(row: BudgetRow, pot: str, spent: Decimal, grants: list[Grant]) -> Budget:
    whose = row.team or row.agent or row.user
    names = {"name": row.name, "scope": row.scope, "period": row.period, "whose": str(whose) if whose else ""}
    return Budget(
        id=str(row.pk),
        pot=pot,
        unit=Unit(row.unit),
        limit=row.limit,
        share=None if row.soft_percent is None else Decimal(row.soft_percent) / 100,
        spent=spent,
        grants=tuple(grants),
        names=tuple(names.items()),
        admins=row.deciders == BudgetRow.Deciders.ADMINS,
    )
