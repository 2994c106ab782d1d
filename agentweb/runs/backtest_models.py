"""Backtests: what a policy would have made of calls that are on record."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from agentweb.policy.rules import Says

MOST_CALLS = 100_000


class Verdict(models.TextChoices):
    """What becomes of a call, or became of it."""

    ALLOW = Says.ALLOW.value, _("runs")
    ASK = Says.ASK.value, _("is asked about")
    DENY = Says.DENY.value, _("is refused")


class Backtest(models.Model):
    """Rules, the calls that they are tried on, and how far that is. ``cursor`` is the row id of the last call that was
    looked at, from the newest down; ``beat_at`` tells that somebody works on it."""

    class Status(models.TextChoices):
        QUEUED = "queued", _("Queued")
        RUNNING = "running", _("Running")
        FINISHED = "finished", _("Finished")
        CANCELLED = "cancelled", _("Cancelled")
        FAILED = "failed", _("Failed")

    name = models.CharField(_("policy"), max_length=120)
    replaces = models.CharField(max_length=100, blank=True)
    rules = models.TextField()
    since = models.DateTimeField(_("from"), null=True, blank=True)
    until = models.DateTimeField(_("until"), null=True, blank=True)
    most = models.PositiveIntegerField(
        _("calls at most"), default=1000, validators=[MinValueValidator(1), MaxValueValidator(MOST_CALLS)]
    )
    status = models.CharField(_("status"), max_length=9, choices=Status, default=Status.QUEUED)
    total = models.PositiveIntegerField(_("calls"), default=0)
    done = models.PositiveIntegerField(_("looked at"), default=0)
    cursor = models.BigIntegerField(null=True)
    allowed = models.PositiveIntegerField(_("would have run"), default=0)
    asked = models.PositiveIntegerField(_("would have been asked about"), default=0)
    denied = models.PositiveIntegerField(_("would have been refused"), default=0)
    changed = models.PositiveIntegerField(_("other than it was"), default=0)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, related_name="backtests", null=True, verbose_name=_("started by")
    )
    created_at = models.DateTimeField(_("started"), auto_now_add=True)
    beat_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(_("finished"), null=True)

    class Meta:
        verbose_name = _("backtest")
        verbose_name_plural = _("backtests")
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"{self.name} #{self.pk}"

    @property
    def live(self) -> bool:
        return self.status in (self.Status.QUEUED, self.Status.RUNNING)


class BacktestedCall(models.Model):
    """One call of a backtest: what would become of it by ``rule``, and what became of it."""

    backtest = models.ForeignKey(Backtest, models.CASCADE, related_name="lines")
    call = models.ForeignKey("runs.Call", models.CASCADE, related_name="+")
    verdict = models.CharField(_("would be"), max_length=5, choices=Verdict)
    happened = models.CharField(_("was"), max_length=5, choices=Verdict)
    rule = models.CharField(_("rule"), max_length=300)

    class Meta:
        ordering = ["pk"]
        constraints = [models.UniqueConstraint(fields=["backtest", "call"], name="one_line_per_call_of_a_backtest")]
        indexes = [models.Index(fields=["backtest", "verdict", "id"])]

    @property
    def changed(self) -> bool:
        return self.verdict != self.happened
