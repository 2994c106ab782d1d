"""People, the teams they work in, and the tokens that programs use in their name."""

import uuid

from django.contrib.auth.models import AbstractUser
from django.db import models
from django.utils.translation import gettext_lazy as _


class User(AbstractUser):
    """A person. ``public_id`` is the id that leaves the server."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)

    @property
    def display_name(self) -> str:
        return self.get_full_name() or self.username


class Team(models.Model):
    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(_("name"), max_length=100, unique=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("team")
        verbose_name_plural = _("teams")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    MEMBER = "member", _("Member")
    ADMIN = "admin", _("Admin")
    REVIEWER = "reviewer", _("Reviewer")


class Membership(models.Model):
    """One person's part in one team: members chat, admins configure as well, reviewers only read."""

    team = models.ForeignKey(Team, models.CASCADE, related_name="memberships", verbose_name=_("team"))
    user = models.ForeignKey(User, models.CASCADE, related_name="memberships", verbose_name=_("user"))
    role = models.CharField(_("role"), max_length=10, choices=Role, default=Role.MEMBER)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)

    class Meta:
        verbose_name = _("membership")
        verbose_name_plural = _("memberships")
        constraints = [models.UniqueConstraint(fields=["team", "user"], name="one_membership_per_person_and_team")]

    def __str__(self) -> str:
        return f"{self.user} · {self.team} · {self.get_role_display()}"


class ApiToken(models.Model):
    """A bearer token. Only its SHA-256 is stored; the token itself is shown once, when it is made."""

    user = models.ForeignKey(User, models.CASCADE, related_name="api_tokens", verbose_name=_("user"))
    name = models.CharField(_("name"), max_length=100)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    hint = models.CharField(_("last characters"), max_length=4, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    used_at = models.DateTimeField(_("last used"), null=True, editable=False)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True)

    class Meta:
        verbose_name = _("API token")
        verbose_name_plural = _("API tokens")

    def __str__(self) -> str:
        return f"{self.name} (…{self.hint})"
