"""Secrets that tools get by name: keys of services that the tools of a site speak to."""

from django.core.validators import RegexValidator
from django.db import models
from django.utils.translation import gettext_lazy as _


class Secret(models.Model):
    """The value is stored encrypted. A tool gets it where its code names it and an admin lists the tool here."""

    name = models.CharField(
        _("name"),
        max_length=64,
        unique=True,
        validators=[RegexValidator(r"^[A-Z][A-Z0-9_]*\Z", _("Use capital letters, digits and underscores."))],
        help_text=_("As the code of the tools calls it, such as TICKETS_KEY."),
    )
    note = models.CharField(_("note"), max_length=300, blank=True, help_text=_("What it is for. Nothing secret here."))
    encrypted_value = models.TextField(editable=False)
    hint = models.CharField(_("last characters"), max_length=4, blank=True, editable=False)
    tools = models.ManyToManyField(
        "registry.Tool",
        related_name="secrets",
        blank=True,
        verbose_name=_("tools"),
        help_text=_("Those that may have it. Only tools whose code asks for it by its name can be chosen."),
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        verbose_name = _("secret of tools")
        verbose_name_plural = _("secrets of tools")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name
