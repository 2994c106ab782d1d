"""What was spent month by month, and by how much people raised a budget: the accounts that budgets are held against.

One row counts for one month, team, agent and person, so a budget of any of them is a sum over a few rows, however many
runs there were.
"""

from datetime import UTC, date, datetime
from decimal import Decimal

from django.conf import settings
from django.db import models
from django.db.models import F
from django.utils.translation import gettext_lazy as _

from agentweb.engine.budgets import amount
from agentweb.engine.enums import Unit
from agentweb.engine.usage import Usage
from agentweb.registry.models import Agent, Budget
from agentweb.teams.models import Team

COUNTED = {Unit.TOKENS: "tokens", Unit.COST: "cost", Unit.SECONDS: "seconds"}


class Spending(models.Model):
    """What the runs of one person with one agent in one team spent in one month."""

    month = models.DateField(_("month"))
    team = models.ForeignKey(Team, models.CASCADE, related_name="spending", verbose_name=_("team"))
    agent = models.ForeignKey(Agent, models.CASCADE, related_name="spending", verbose_name=_("agent"))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="spending", verbose_name=_("person")
    )
    tokens = models.PositiveBigIntegerField(_("tokens"), default=0)
    cost = models.DecimalField(_("cost"), max_digits=18, decimal_places=8, default=0)
    seconds = models.DecimalField(_("seconds"), max_digits=18, decimal_places=3, default=0)

    class Meta:
        verbose_name = _("spending")
        verbose_name_plural = _("spending")
        ordering = ["-month", "team", "agent", "user"]
        constraints = [
            models.UniqueConstraint(
                fields=["month", "team", "agent", "user"], name="one_account_a_month_and_combination"
            )
        ]


class TopUp(models.Model):
    """So much more people granted, when so much of the budget was spent. ``pot``: the run, or the month and whose."""

    budget = models.ForeignKey(Budget, models.CASCADE, related_name="top_ups", verbose_name=_("budget"))
    pot = models.CharField(_("of"), max_length=100)
    run = models.ForeignKey("runs.Run", models.CASCADE, related_name="top_ups", verbose_name=_("run"))
    approval = models.OneToOneField("runs.Approval", models.CASCADE, related_name="top_up")
    amount = models.DecimalField(_("amount"), max_digits=18, decimal_places=6)
    spent = models.DecimalField(_("spent before"), max_digits=18, decimal_places=8)
    created_at = models.DateTimeField(_("granted"), auto_now_add=True)

    class Meta:
        verbose_name = _("top-up")
        verbose_name_plural = _("top-ups")
        ordering = ["pk"]
        indexes = [models.Index(fields=["pot", "budget"])]


def month_of(moment: datetime) -> date:
    """The first day of the calendar month, in UTC."""
    return moment.astimezone(UTC).date().replace(day=1)


def add(*, team: int, agent: int, user: int, usage: Usage, moment: datetime) -> None:
    """Count what was spent. Called in the transaction that records it, after the run's own row is held."""
    spent = {name: amount(usage, unit) for unit, name in COUNTED.items()}
    if not any(spent.values()):
        return
    account = {"month": month_of(moment), "team_id": team, "agent_id": agent, "user_id": user}
    more = {name: F(name) + value for name, value in spent.items()}
    if not Spending.objects.filter(**account).update(**more):
        Spending.objects.bulk_create([Spending(**account)], ignore_conflicts=True)  # perhaps by two at once
        Spending.objects.filter(**account).update(**more)


def top_up(*, approval: int, run: int, facts: dict[str, str], more: Decimal) -> None:
    """Raise a budget as people have granted; one that was deleted meanwhile asks nobody any more."""
    if Budget.objects.filter(pk=facts["budget"]).exists():
        TopUp.objects.create(
            budget_id=facts["budget"],
            pot=facts["pot"],
            run_id=run,
            approval_id=approval,
            amount=more,
            spent=Decimal(facts["spent"]),
        )
