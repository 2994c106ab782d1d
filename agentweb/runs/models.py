"""What happened: conversations, messages, runs, calls and the events that they are derived from."""

import uuid

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from agentweb.engine import enums
from agentweb.registry.models import Agent
from agentweb.runs.approval_models import Approval, CallAnswer
from agentweb.runs.asking_models import ApprovalTerms, Decider, Delegation, Vote
from agentweb.runs.backtest_models import Backtest, BacktestedCall
from agentweb.runs.grant_models import Grant, GrantUse
from agentweb.runs.halt_models import Halt
from agentweb.runs.idempotency import IdempotencyKey
from agentweb.runs.notice_models import Delivery, NoticeWish, Webhook
from agentweb.runs.spending import Spending, TopUp
from agentweb.runs.taint_models import Taint
from agentweb.teams.models import Team

__all__ = [  # models with modules of their own
    "Approval",
    "ApprovalTerms",
    "Backtest",
    "BacktestedCall",
    "CallAnswer",
    "Decider",
    "Delegation",
    "Delivery",
    "Grant",
    "GrantUse",
    "Halt",
    "IdempotencyKey",
    "NoticeWish",
    "Spending",
    "Taint",
    "TopUp",
    "Vote",
    "Webhook",
]


class Visibility(models.TextChoices):
    PRIVATE = "private", _("Private")
    TEAM = "team", _("Team")


class Conversation(models.Model):
    """A chat of one team with one agent. Its workspace is a folder named by ``public_id``."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    team = models.ForeignKey(Team, models.CASCADE, related_name="conversations", verbose_name=_("team"))
    owner = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="conversations", verbose_name=_("owner")
    )
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="conversations", verbose_name=_("agent"))
    title = models.CharField(_("title"), max_length=200, blank=True)
    visibility = models.CharField(_("visibility"), max_length=7, choices=Visibility, default=Visibility.PRIVATE)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    active_at = models.DateTimeField(_("last activity"), auto_now_add=True)
    archived_at = models.DateTimeField(_("archived"), null=True, blank=True)
    deleted_at = models.DateTimeField(_("deleted"), null=True, blank=True)

    class Meta:
        verbose_name = _("conversation")
        verbose_name_plural = _("conversations")
        ordering = ["-active_at", "-pk"]
        indexes = [
            models.Index(fields=["team", "-active_at", "-id"]),
            models.Index(fields=["owner", "-active_at", "-id"]),
        ]

    def __str__(self) -> str:
        return self.title or str(_("New conversation"))


class Snapshot(models.Model):
    """What runs used, as it was: agent, prompt, tool definitions, model and prices, as canonical JSON text."""

    digest = models.CharField(max_length=64, unique=True)
    data = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)


class WorkerProcess(models.Model):
    """One living worker. Its leases hold as long as ``beat_at`` is fresh."""

    public_id = models.UUIDField(unique=True)
    name = models.CharField(max_length=200)
    started_at = models.DateTimeField()
    beat_at = models.DateTimeField(db_index=True)


class Run(models.Model):
    """One piece of work, from a user message to its outcome. Written by the journal and by conditional updates."""

    class Status(models.TextChoices):
        QUEUED = enums.RunStatus.QUEUED.value, _("Queued")
        RUNNING = enums.RunStatus.RUNNING.value, _("Running")
        WAITING = enums.RunStatus.WAITING.value, _("Waiting")
        FINISHED = enums.RunStatus.FINISHED.value, _("Finished")

    class Outcome(models.TextChoices):
        ANSWERED = enums.Outcome.ANSWERED.value, _("Answered")
        LIMIT_REACHED = enums.Outcome.LIMIT_REACHED.value, _("Limit reached")
        STOPPED = enums.Outcome.STOPPED.value, _("Stopped")
        CANCELLED = enums.Outcome.CANCELLED.value, _("Cancelled")
        FAILED = enums.Outcome.FAILED.value, _("Failed")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="runs", verbose_name=_("conversation"))
    agent = models.ForeignKey(Agent, models.PROTECT, related_name="runs", verbose_name=_("agent"))
    requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="runs", verbose_name=_("asked by")
    )
    snapshot = models.ForeignKey(Snapshot, models.PROTECT, related_name="runs")
    attended = models.BooleanField(_("somebody attends"), default=True)  # else what would be asked is refused
    status = models.CharField(_("status"), max_length=8, choices=Status, default=Status.QUEUED)
    outcome = models.CharField(_("outcome"), max_length=13, choices=Outcome, blank=True)
    reason = models.CharField(_("reason"), max_length=20, blank=True)
    reason_text = models.TextField(blank=True)
    error = models.JSONField(null=True, blank=True)

    turns = models.PositiveIntegerField(_("turns"), default=0)
    model_calls = models.PositiveIntegerField(_("model calls"), default=0)
    tool_calls = models.PositiveIntegerField(_("tool calls"), default=0)
    input_tokens = models.PositiveBigIntegerField(_("input tokens"), default=0)
    cached_tokens = models.PositiveBigIntegerField(_("cached tokens"), default=0)
    output_tokens = models.PositiveBigIntegerField(_("output tokens"), default=0)
    thinking_tokens = models.PositiveBigIntegerField(_("thinking tokens"), default=0)
    cost = models.DecimalField(_("cost"), max_digits=18, decimal_places=8, default=0)
    seconds = models.FloatField(_("seconds"), default=0)
    estimated_calls = models.PositiveIntegerField(_("estimated calls"), default=0)

    owner = models.ForeignKey(WorkerProcess, models.SET_NULL, related_name="runs", null=True, editable=False)
    epoch = models.PositiveIntegerField(default=0, editable=False)
    attempts = models.PositiveSmallIntegerField(default=0, editable=False)
    last_event = models.PositiveIntegerField(default=0, editable=False)
    head_hash = models.CharField(max_length=64, blank=True, editable=False)
    head_signature = models.CharField(max_length=64, blank=True, editable=False)
    cancel_requested_at = models.DateTimeField(null=True, editable=False)
    cancel_requested_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.SET_NULL, related_name="cancelled_runs", null=True, editable=False
    )
    stop_after = models.CharField(max_length=9, blank=True, editable=False)
    goals = models.JSONField(default=list, editable=False)  # how the goal checks of the last answer came out
    held_at = models.DateTimeField(null=True, editable=False)  # its worker was lost: a person must let it go on
    undoes = models.ForeignKey("runs.Call", models.SET_NULL, related_name="undone_by", null=True, editable=False)
    halt = models.ForeignKey("runs.Halt", models.SET_NULL, related_name="held_runs", null=True, editable=False)
    queued_at = models.DateTimeField(null=True, editable=False)
    enqueued_at = models.DateTimeField(null=True, editable=False)
    enqueued_times = models.PositiveSmallIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    finished_at = models.DateTimeField(_("finished"), null=True, editable=False)

    class Meta:
        verbose_name = _("run")
        verbose_name_plural = _("runs")
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["conversation"], condition=~Q(status="finished"), name="one_live_run_per_conversation"
            ),
            models.CheckConstraint(
                condition=Q(status="finished", outcome__gt="") | (~Q(status="finished") & Q(outcome="")),
                name="outcome_only_when_finished",
            ),
        ]
        indexes = [models.Index(fields=["status", "enqueued_at"])]

    def __str__(self) -> str:
        return str(self.public_id)

    @property
    def live(self) -> bool:
        return self.status != self.Status.FINISHED


class Message(models.Model):
    """An entry of a conversation. Results of tools are on the calls of the assistant's message. What the system itself
    says to the model is an entry too; ``why`` is then the reason, and on an interrupted message the kind of error."""

    class Role(models.TextChoices):
        USER = "user", _("User")
        ASSISTANT = "assistant", _("Assistant")
        SYSTEM = "system", _("System")

    class Status(models.TextChoices):
        STREAMING = "streaming", _("Streaming")
        FINISHED = "finished", _("Finished")
        INTERRUPTED = "interrupted", _("Interrupted")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="messages")
    run = models.ForeignKey(Run, models.CASCADE, related_name="messages", null=True)
    role = models.CharField(max_length=9, choices=Role)
    status = models.CharField(max_length=11, choices=Status, default=Status.FINISHED)
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="messages", null=True)
    text = models.TextField(blank=True)
    thinking = models.TextField(blank=True)
    finish = models.CharField(max_length=10, blank=True)
    why = models.CharField(max_length=20, blank=True)
    usage = models.JSONField(default=dict)
    turn = models.PositiveIntegerField(default=0)
    extra = models.JSONField(default=dict)
    html = models.TextField(blank=True)
    html_version = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("message")
        verbose_name_plural = _("messages")
        ordering = ["pk"]
        indexes = [models.Index(fields=["conversation", "id"])]


class QueuedMessage(models.Model):
    """A message that waits in a live run's inbox until the run takes it, or goes back to its author."""

    class Delivery(models.TextChoices):
        STEERING = "steering", _("Steering")
        FOLLOW_UP = "follow_up", _("Follow-up")

    class Status(models.TextChoices):
        QUEUED = "queued", _("Queued")
        TAKEN = "taken", _("Taken")
        RETURNED = "returned", _("Returned")
        REMOVED = "removed", _("Removed")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="queue")
    author = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="queued_messages")
    delivery = models.CharField(max_length=9, choices=Delivery)
    status = models.CharField(max_length=8, choices=Status, default=Status.QUEUED)
    text = models.TextField()
    revision = models.PositiveIntegerField(default=0)
    turn = models.PositiveIntegerField(null=True)
    message = models.ForeignKey(Message, models.SET_NULL, related_name="queued_as", null=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["pk"]
        indexes = [models.Index(fields=["run", "status", "delivery"])]


class Call(models.Model):
    """A tool call of an assistant message, with its one result. ``arguments`` are those that run or ran."""

    class Status(models.TextChoices):
        OPEN = enums.CallStatus.OPEN.value, _("Open")
        WAITING = enums.CallStatus.WAITING.value, _("Waiting for approval")
        SUSPENDED = enums.CallStatus.SUSPENDED.value, _("Waiting for input")
        STARTED = enums.CallStatus.STARTED.value, _("Running")
        FINISHED = enums.CallStatus.FINISHED.value, _("Finished")
        REJECTED = enums.CallStatus.REJECTED.value, _("Rejected")
        EXPIRED = enums.CallStatus.EXPIRED.value, _("Expired")
        CANCELLED = enums.CallStatus.CANCELLED.value, _("Cancelled")
        UNKNOWN = enums.CallStatus.UNKNOWN.value, _("Outcome unknown")

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    run = models.ForeignKey(Run, models.CASCADE, related_name="calls")
    message = models.ForeignKey(Message, models.CASCADE, related_name="calls")
    position = models.PositiveSmallIntegerField()
    name = models.CharField(max_length=200)  # of the tool that answers
    asked_name = models.CharField(max_length=200, blank=True)  # of the one that was asked for, where that has failed
    failures = models.JSONField(default=list)  # of the tools before: their names and what they said
    provider_id = models.CharField(max_length=200, blank=True)
    raw = models.TextField(blank=True)
    asked_arguments = models.JSONField(null=True)
    arguments = models.JSONField(null=True)
    invalid = models.CharField(max_length=10, blank=True)
    detail = models.TextField(blank=True)
    recovered = models.BooleanField(default=False)
    extra = models.JSONField(default=dict)
    answer_schema = models.JSONField(null=True)  # what an answer from outside must fit, where the tool says so
    status = models.CharField(max_length=9, choices=Status, default=Status.OPEN)
    attempt = models.PositiveSmallIntegerField(default=0)
    tries = models.PositiveSmallIntegerField(default=1)  # of the start that gave the result
    kept_s = models.FloatField(null=True)  # so old was the answer that was given again instead of a start
    result = models.TextField(null=True)
    result_full = models.TextField(blank=True)
    result_kind = models.CharField(max_length=20, blank=True)
    seconds = models.FloatField(default=0)
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)
    undone_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name = _("tool call")
        verbose_name_plural = _("tool calls")
        ordering = ["message_id", "position"]
        constraints = [models.UniqueConstraint(fields=["message", "position"], name="one_call_per_place_in_a_message")]

    @property
    def is_error(self) -> bool:
        return self.result_kind not in ("", enums.ResultKind.OK.value, enums.ResultKind.ANSWERED.value)


class Event(models.Model):
    """An immutable fact about a run. Written only by the journal; ``hash`` chains it to the one before."""

    run = models.ForeignKey(Run, models.CASCADE, related_name="events")
    number = models.PositiveIntegerField()
    kind = models.CharField(max_length=40)
    at = models.DateTimeField()
    payload = models.TextField()
    payload_digest = models.CharField(max_length=64)
    hash = models.CharField(max_length=64)

    class Meta:
        verbose_name = _("event")
        verbose_name_plural = _("events")
        ordering = ["run_id", "number"]
        constraints = [models.UniqueConstraint(fields=["run", "number"], name="one_event_per_number")]


class AccessLog(models.Model):
    """A look by someone who sees a conversation only by their office (reviewer or admin); its owner may read it."""

    conversation = models.ForeignKey(Conversation, models.CASCADE, related_name="looks")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="looks")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = _("look by office")
        verbose_name_plural = _("looks by office")
        ordering = ["-pk"]
        indexes = [models.Index(fields=["conversation", "-id"])]
