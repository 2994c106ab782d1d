"""System prompts as templates: the text that runs begin with from now on, and every text that there was."""

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from agentweb.registry import validators


class Prompt(models.Model):
    """A template of system prompts. ``version`` grows with every change of its text."""

    name = models.CharField(_("name"), max_length=100, unique=True)
    text = models.TextField(_("text"), validators=[validators.prompt_template])
    version = models.PositiveIntegerField(_("version"), default=0, editable=False)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        verbose_name = _("system prompt")
        verbose_name_plural = _("system prompts")
        ordering = ["name"]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"


class PromptVersion(models.Model):
    """One text of a template, as it was when it was saved. Runs name the version that they began with."""

    prompt = models.ForeignKey(Prompt, models.CASCADE, related_name="versions", verbose_name=_("system prompt"))
    version = models.PositiveIntegerField(_("version"))
    text = models.TextField(_("text"))
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        related_name="prompt_versions",
        null=True,
        blank=True,
        verbose_name=_("by"),
    )

    class Meta:
        verbose_name = _("version")
        verbose_name_plural = _("versions")
        ordering = ["prompt", "-version"]
        constraints = [models.UniqueConstraint(fields=["prompt", "version"], name="one_text_a_version")]

    def __str__(self) -> str:
        return f"v{self.version}"
