"""Remembered approvals: what people agreed to beforehand, until when, and which calls ran by it."""

import uuid
from datetime import datetime

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agentweb.policy import grants
from agentweb.registry.models import Agent
from agentweb.teams.models import Team


class Grant(models.Model):
    """A yes to later calls of one tool with one agent. It covers calls with exactly ``arguments``, but for those named
    in ``free``; ``tool_digest`` is the tool's definition when it was given. ``ended_at``: it covers nothing since.

    Where: in one run, in one conversation, or, with scope PERSON, in all runs that its giver starts in the team."""

    class Scope(models.TextChoices):
        RUN = "run", _("This run")
        CONVERSATION = "conversation", _("This conversation")
        PERSON = "until", _("Until a date")

    class Ended(models.TextChoices):
        REVOKED = "revoked", _("Revoked")
        REJECTED = "rejected", _("Withdrawn, since such a call was rejected")
        CHANGED = "changed", _("Withdrawn, since the tool has changed")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    scope = models.CharField(_("scope"), max_length=12, choices=Scope)
    team = models.ForeignKey(Team, models.CASCADE, related_name="grants", verbose_name=_("team"))
    agent = models.ForeignKey(Agent, models.CASCADE, related_name="grants", verbose_name=_("agent"))
    run = models.ForeignKey("runs.Run", models.CASCADE, related_name="grants", verbose_name=_("run"))
    approval = models.OneToOneField("runs.Approval", models.CASCADE, related_name="grant", verbose_name=_("approval"))
    given_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="grants", verbose_name=_("given by")
    )
    tool = models.CharField(_("tool"), max_length=64)
    tool_digest = models.CharField(max_length=64, editable=False)
    arguments = models.JSONField(_("arguments"))
    free = models.JSONField(_("arguments that may vary"), default=list)
    created_at = models.DateTimeField(_("given"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires"), null=True)
    ended_at = models.DateTimeField(_("ended"), null=True)
    ended_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, related_name="+", null=True, verbose_name=_("ended by")
    )
    ended_why = models.CharField(_("why it ended"), max_length=8, choices=Ended, blank=True)

    class Meta:
        verbose_name = _("grant")
        verbose_name_plural = _("grants")
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(ended_at=None, ended_why="") | (Q(ended_at__isnull=False) & ~Q(ended_why="")),
                name="an_ended_grant_says_why",
            ),
            models.CheckConstraint(
                condition=~Q(scope="until") | Q(expires_at__isnull=False), name="a_grant_of_a_person_expires"
            ),
        ]
        indexes = [models.Index(fields=["run", "tool"]), models.Index(fields=["given_by", "-id"])]

    def __str__(self) -> str:
        return f"{self.tool}: {self.get_scope_display()}"

    def expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    @property
    def as_grant(self) -> grants.Grant:
        """As calls are held against it."""
        return grants.Grant(
            id=str(self.public_id),
            tool=self.tool,
            tool_digest=self.tool_digest,
            arguments=self.arguments,
            free=frozenset(self.free),
            by=self.given_by.display_name,
            at=self.created_at,
        )


class GrantUse(models.Model):
    """A call that ran by a grant."""

    grant = models.ForeignKey(Grant, models.CASCADE, related_name="uses", verbose_name=_("grant"))
    call = models.OneToOneField("runs.Call", models.CASCADE, related_name="grant_use", verbose_name=_("tool call"))
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("use of a grant")
        verbose_name_plural = _("uses of grants")
        ordering = ["-pk"]
