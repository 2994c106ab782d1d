"""What people are asked, and what comes from outside: approvals with their decisions, and answers about calls."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agentweb.engine import enums
from agentweb.registry.models import Risk
from agentweb.runs.asking_models import ApprovalTerms


class Approval(models.Model):
    """One ask: what was shown, then what was decided. ``taken_at``: the run has acted on it.

    It is about one call, or, as a ``question``, about the run itself; ``facts`` are then what people should know, and
    ``arguments`` what a plain yes agrees to. ``digest`` covers the arguments, the tool's ``definition``, the rule with
    the version of its policy, and the preview, made at ``previewed_at``, whose own digest is ``seen``. The ``final_…``
    are what was decided on after changes, and what that was shown to do."""

    class Status(models.TextChoices):
        PENDING = enums.ApprovalStatus.PENDING.value, _("Pending")
        APPROVED = enums.ApprovalStatus.APPROVED.value, _("Approved")
        MODIFIED = enums.ApprovalStatus.MODIFIED.value, _("Approved with changes")
        REJECTED = enums.ApprovalStatus.REJECTED.value, _("Rejected")
        ANSWERED = enums.ApprovalStatus.ANSWERED.value, _("Answered by a person")
        EXPIRED = enums.ApprovalStatus.EXPIRED.value, _("Expired")
        CANCELLED = enums.ApprovalStatus.CANCELLED.value, _("Cancelled")

    class Question(models.TextChoices):
        CIRCLES = enums.Question.CIRCLES.value, _("The agent repeats itself")
        BUDGET = enums.Question.BUDGET.value, _("A budget is nearly used up")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    run = models.ForeignKey("runs.Run", models.CASCADE, related_name="approvals")
    call = models.ForeignKey("runs.Call", models.CASCADE, related_name="approvals", null=True)
    question = models.CharField(_("question"), max_length=7, choices=Question, blank=True)
    facts = models.JSONField(null=True)
    for_admins = models.BooleanField(default=False)
    status = models.CharField(_("status"), max_length=9, choices=Status, default=Status.PENDING)
    arguments = models.JSONField()
    risk = models.CharField(_("risk level"), max_length=6, choices=Risk)
    digest = models.CharField(max_length=64)
    rule = models.CharField(_("rule"), max_length=300)
    requires_comment = models.BooleanField(default=False)
    fact = models.TextField(blank=True)  # what the call does, in the words of an admin
    effect = models.TextField(blank=True)
    preview = models.JSONField(null=True)
    previewed_at = models.DateTimeField(null=True)
    definition = models.CharField(max_length=64, blank=True)
    seen = models.CharField(max_length=64, blank=True)
    replaces = models.ForeignKey("self", models.SET_NULL, related_name="replaced_by", null=True)
    final_arguments = models.JSONField(null=True)
    final_effect = models.TextField(blank=True)
    final_preview = models.JSONField(null=True)
    final_seen = models.CharField(max_length=64, blank=True)
    comment = models.TextField(_("comment"), blank=True)
    response = models.TextField(blank=True)
    decided_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="decisions", null=True, verbose_name=_("decided by")
    )
    decided_at = models.DateTimeField(_("decided"), null=True)
    taken_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(_("expires"), null=True)
    noticed_at = models.DateTimeField(null=True, editable=False)  # when people were told by mail that it waits
    created_at = models.DateTimeField(_("asked"), auto_now_add=True)

    class Meta:
        verbose_name = _("approval")
        verbose_name_plural = _("approvals")
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["call"], condition=Q(status="pending"), name="one_pending_approval_per_call"
            ),
            models.UniqueConstraint(
                fields=["run"], condition=Q(status="pending", call=None), name="one_pending_question_per_run"
            ),
            models.CheckConstraint(
                condition=Q(call=None, question__gt="") | Q(call__isnull=False, question=""),
                name="about_a_call_or_the_run",
            ),
        ]
        indexes = [models.Index(fields=["status", "id"]), models.Index(fields=["status", "noticed_at", "created_at"])]

    @property
    def on_terms(self) -> ApprovalTerms | None:
        """The terms that rules make for this approval, if any do."""
        return getattr(self, "terms", None)


A_PROGRAM = "a program"  # recorded, so in English


class CallAnswer(models.Model):
    """What came from outside about a call that waits for it: what became of it, or (``outcome`` empty) its result.

    ``taken_at``: the run has acted on it."""

    class Outcome(models.TextChoices):
        DONE = enums.Resolution.DONE.value, _("It was done")
        NOT_DONE = enums.Resolution.NOT_DONE.value, _("It was not done")
        TELL_MODEL = enums.Resolution.TELL_MODEL.value, _("Not known; the agent is told so")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    run = models.ForeignKey("runs.Run", models.CASCADE, related_name="answers")
    call = models.ForeignKey("runs.Call", models.CASCADE, related_name="answers")
    outcome = models.CharField(max_length=10, choices=Outcome, blank=True)
    content = models.TextField(blank=True)
    is_error = models.BooleanField(default=False)
    comment = models.TextField(blank=True)
    given_by = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="call_answers", null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    taken_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(fields=["call"], condition=Q(taken_at=None), name="one_answer_at_a_time_per_call")
        ]

    @property
    def by(self) -> str:
        """Who said it: a person, or a program at the address that it was given."""
        return self.given_by.display_name if self.given_by else A_PROGRAM

    @property
    def word(self) -> str:
        """What was said, for people."""
        if self.outcome:
            return self.get_outcome_display()
        return str(_("Failure reported") if self.is_error else _("Result given"))
