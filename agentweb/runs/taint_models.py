"""Text that nobody vouches for, as it came into a conversation."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _


class Taint(models.Model):
    """A call of a tool whose results count as untrusted. ``text`` is the beginning of what came back, at
    ``arrived_at`` (None: nothing has come yet). The conversation stays tainted until a person clears that."""

    conversation = models.ForeignKey(
        "runs.Conversation", models.CASCADE, related_name="taints", verbose_name=_("conversation")
    )
    run = models.ForeignKey("runs.Run", models.CASCADE, related_name="taints", verbose_name=_("run"))
    call = models.OneToOneField(
        "runs.Call", models.CASCADE, to_field="public_id", related_name="taint", verbose_name=_("tool call")
    )
    tool = models.CharField(_("tool"), max_length=200)
    text = models.TextField(_("beginning of the text"), blank=True)
    started_at = models.DateTimeField(_("started"))
    arrived_at = models.DateTimeField(_("arrived"), null=True)
    cleared_at = models.DateTimeField(_("cleared"), null=True)
    cleared_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="+", null=True, verbose_name=_("cleared by")
    )

    class Meta:
        verbose_name = _("untrusted text")
        verbose_name_plural = _("untrusted texts")
        ordering = ["-pk"]
        indexes = [models.Index(fields=["conversation", "cleared_at"])]

    def __str__(self) -> str:
        return self.tool
