"""On which terms people are asked about a call, who may decide, and what each of several people has said."""

from django.conf import settings
from django.contrib.auth.models import Group
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agentweb.engine import enums
from agentweb.teams.models import Role


class ApprovalTerms(models.Model):
    """Of an approval that rules make terms for, as they were when it was asked for. Others have no such row.

    ``circles``: so many groups of deciders there are, each of which who decides must belong to. ``proposal``: the
    arguments that people vote on instead of those that were asked for. ``stranded``: nobody is left who could decide,
    as of ``checked_at``, so admins of the team may."""

    approval = models.OneToOneField("runs.Approval", models.CASCADE, related_name="terms", primary_key=True)
    needed = models.PositiveSmallIntegerField(default=1)
    apart = models.BooleanField(default=False)
    circles = models.PositiveSmallIntegerField(default=0)
    proposal = models.JSONField(null=True)
    proposed_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="proposals", null=True)
    stranded = models.BooleanField(_("nobody is left who could decide"), default=False)
    checked_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("terms of an approval")
        verbose_name_plural = _("terms of approvals")
        indexes = [models.Index(fields=["stranded"], condition=Q(stranded=True), name="stranded_approvals")]


class Decider(models.Model):
    """Whom one entry of a circle means: a person, a role in the team, a group, or ``everyone`` who may write in the
    conversation. A group or person that is gone leaves an entry that means nobody. ``name`` is for people."""

    approval = models.ForeignKey("runs.Approval", models.CASCADE, related_name="deciders")
    circle = models.PositiveSmallIntegerField()
    everyone = models.BooleanField(default=False)
    role = models.CharField(max_length=10, choices=Role, blank=True)
    group = models.ForeignKey(Group, models.SET_NULL, related_name="+", null=True)
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.SET_NULL, related_name="+", null=True)
    name = models.CharField(max_length=310, blank=True)
    from_at = models.DateTimeField(null=True)  # not before; empty: from the beginning
    told_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["circle", "pk"]
        indexes = [
            models.Index(fields=["from_at"], condition=Q(from_at__isnull=False, told_at=None), name="due_deciders")
        ]


class Delegation(models.Model):
    """Somebody who might decide has handed that to another person, and may no longer approve."""

    approval = models.ForeignKey("runs.Approval", models.CASCADE, related_name="delegations")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="handed_over")
    to = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="taken_over")
    comment = models.TextField(blank=True)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["approval", "by"], name="handed_over_once"),
            models.UniqueConstraint(fields=["approval", "to"], name="taken_over_once"),
        ]


class Vote(models.Model):
    """What one of several people said who had to approve. ``void``: the arguments were changed afterwards.

    ``digest`` is that of what they saw; ``arguments`` those that they wanted instead."""

    class Kind(models.TextChoices):
        APPROVE = enums.DecisionKind.APPROVE.value, _("Approved")
        MODIFY = enums.DecisionKind.MODIFY.value, _("Approved with changes")
        REJECT = enums.DecisionKind.REJECT.value, _("Rejected")
        RESPOND = enums.DecisionKind.RESPOND.value, _("Answered by a person")

    approval = models.ForeignKey("runs.Approval", models.CASCADE, related_name="votes")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="votes")
    kind = models.CharField(max_length=7, choices=Kind)
    digest = models.CharField(max_length=64)
    arguments = models.JSONField(null=True)
    comment = models.TextField(blank=True)
    void = models.BooleanField(default=False)
    created_at = models.DateTimeField()

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["approval", "user"],
                condition=Q(void=False, kind__in=("approve", "modify")),
                name="one_consent_each",
            )
        ]
