"""Emergency stops: what may not start until somebody lets it go on."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agentweb.registry.models import Agent
from agentweb.teams.models import Team


class Halt(models.Model):
    """A tool, an agent or everything is stopped, in one team or (without one) in all, until ``ended_at``."""

    class Kind(models.TextChoices):
        ALL = "all", _("Everything")
        AGENT = "agent", _("Agent")
        TOOL = "tool", _("Tool")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    kind = models.CharField(_("what"), max_length=5, choices=Kind)
    agent = models.ForeignKey(Agent, models.CASCADE, related_name="halts", null=True, verbose_name=_("agent"))
    tool = models.CharField(_("tool"), max_length=64, blank=True)
    team = models.ForeignKey(Team, models.CASCADE, related_name="halts", null=True, verbose_name=_("team"))
    reason = models.CharField(_("reason"), max_length=300)
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="halts", verbose_name=_("stopped by"))
    created_at = models.DateTimeField(_("stopped"), auto_now_add=True)
    ended_at = models.DateTimeField(_("let go on"), null=True)
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True, verbose_name=_("let go on by")
    )

    class Meta:
        verbose_name = _("emergency stop")
        verbose_name_plural = _("emergency stops")
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(kind="all", agent=None, tool="")
                | Q(kind="agent", agent__isnull=False, tool="")
                | Q(kind="tool", agent=None, tool__gt=""),
                name="a_halt_names_what_it_stops",
            )
        ]
        indexes = [models.Index(fields=["ended_at"])]

    def __str__(self) -> str:
        return str(self.agent or self.tool or self.get_kind_display())
