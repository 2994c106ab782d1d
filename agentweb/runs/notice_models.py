"""Who wants to be told of what waits: people by mail, a team's own programs by a signed request."""

import uuid

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from agentweb.registry.validators import hook_address
from agentweb.teams.models import Team


class NoticeWish(models.Model):
    """What a person wants. ``language`` is the one of the page on which they asked for it."""

    user = models.OneToOneField(settings.AUTH_USER_MODEL, models.CASCADE, related_name="notice_wish")
    mail = models.BooleanField(default=False)
    language = models.CharField(max_length=10, blank=True)


class Webhook(models.Model):
    """An address that is told of each approval that a team's people are asked for, from its making on."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="webhooks", verbose_name=_("team"))
    url = models.CharField(_("address"), max_length=500, validators=[hook_address])
    encrypted_secret = models.TextField(blank=True, editable=False)
    secret_hint = models.CharField(_("last characters of the secret"), max_length=4, blank=True, editable=False)
    enabled = models.BooleanField(_("enabled"), default=True)
    cursor = models.BigIntegerField(default=0, editable=False)  # the newest approval when it was made
    last_sent_at = models.DateTimeField(_("last delivered"), null=True, editable=False)
    last_error = models.TextField(_("last error"), blank=True, editable=False)
    last_error_at = models.DateTimeField(_("last failed"), null=True, editable=False)

    class Meta:
        verbose_name = _("webhook")
        verbose_name_plural = _("webhooks")
        ordering = ["team__name", "pk"]

    def __str__(self) -> str:
        return self.url


class Delivery(models.Model):
    """One request to a webhook, tried until it is taken, given up, or about something that was decided meanwhile."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    approval = models.ForeignKey("runs.Approval", models.CASCADE, related_name="+")
    attempts = models.PositiveSmallIntegerField(default=0)
    next_at = models.DateTimeField(null=True)  # none: nothing is left to do

    class Meta:
        constraints = [models.UniqueConstraint(fields=["webhook", "approval"], name="one_delivery_per_webhook")]
        indexes = [models.Index(fields=["next_at"])]
