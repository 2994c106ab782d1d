"""Checks of an agent's answers, as admins set them up."""

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _

from agentweb.registry import validators


class GoalCheck(models.Model):
    """Something that must be true of an agent's answer, looked at by code whenever the model answers."""

    class Kind(models.TextChoices):
        FILE = "file", _("A file exists")
        JSON = "json", _("JSON fits a schema")
        TEXT = "text", _("Text matches a pattern")
        FUNCTION = "function", _("A Python function is content")

    NEEDS = {Kind.FILE: "path", Kind.JSON: "schema", Kind.TEXT: "pattern", Kind.FUNCTION: "function"}

    agent = models.ForeignKey("registry.Agent", models.CASCADE, related_name="goals", verbose_name=_("agent"))
    position = models.PositiveSmallIntegerField(_("position"), default=0)
    kind = models.CharField(_("kind"), max_length=8, choices=Kind)
    label = models.CharField(
        _("name"), max_length=200, blank=True, help_text=_("Shown to people and told to the model; empty: made up.")
    )
    path = models.CharField(
        _("file"),
        max_length=500,
        blank=True,
        validators=[validators.file_path],
        help_text=_("In the workspace. Empty: the answer itself is looked at."),
    )
    schema = models.JSONField(_("JSON Schema"), default=dict, blank=True, validators=[validators.json_schema])
    pattern = models.CharField(_("pattern"), max_length=1000, blank=True, validators=[validators.text_pattern])
    function = models.CharField(
        _("function"),
        max_length=300,
        blank=True,
        validators=[validators.goal_function],
        help_text=_("Dotted path; called with the answer and the workspace. None or True: content."),
    )

    class Meta:
        verbose_name = _("goal check")
        verbose_name_plural = _("goal checks")
        ordering = ["agent", "position", "pk"]

    def __str__(self) -> str:
        return self.label or self.get_kind_display()

    def clean(self) -> None:
        """Each kind needs the field that it is about."""
        needed = self.NEEDS.get(self.kind)
        if needed and not getattr(self, needed):
            raise ValidationError({needed: _("A check of this kind needs this.")})
