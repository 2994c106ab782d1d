"""Policies: rules as admins edit them, and every version of them that ever counted."""

from django.conf import settings
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agentweb.engine.enums import Risk as EngineRisk
from agentweb.engine.terms import Circle, Later, Named
from agentweb.policy import rules
from agentweb.policy.faults import MESSAGES, Fault, faults
from agentweb.registry import validators
from agentweb.schema.problems import render
from agentweb.teams.models import Role, Team

MOST_MINUTES = 525_600  # a year
MOST_APPROVALS = 20
FIELDS = {"deciders": "people", "later": "later_minutes"}  # of a rule, in its form


class Risk(models.TextChoices):
    LOW = EngineRisk.LOW.value, _("Low")
    MEDIUM = EngineRisk.MEDIUM.value, _("Medium")
    HIGH = EngineRisk.HIGH.value, _("High")


class Policy(models.Model):
    """Rules that turn a call into a verdict. ``version`` grows with every change, and events name it.

    What counts is the version whose content has this ``digest``, not the rows of the rules, which are for editing."""

    name = models.CharField(_("name"), max_length=100, unique=True)
    version = models.PositiveIntegerField(_("version"), default=1, editable=False)
    digest = models.CharField(max_length=64, blank=True, editable=False)
    enabled = models.BooleanField(_("enabled"), default=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        verbose_name = _("policy")
        verbose_name_plural = _("policies")
        ordering = ["name"]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"


class PolicyVersion(models.Model):
    """A policy as it was from ``created_at`` until its next version. Never changed.

    ``rules`` is canonical JSON; ``digest`` is the SHA-256 of name, number and rules. ``by`` may be nobody."""

    policy = models.ForeignKey(
        Policy, models.SET_NULL, related_name="versions", null=True, editable=False, verbose_name=_("policy")
    )
    name = models.CharField(_("name"), max_length=100, editable=False)
    version = models.PositiveIntegerField(_("version"), editable=False)
    enabled = models.BooleanField(_("enabled"), editable=False)
    rules = models.TextField(_("rules"), editable=False)
    digest = models.CharField(max_length=64, db_index=True, editable=False)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.SET_NULL,
        related_name="policy_versions",
        null=True,
        editable=False,
        verbose_name=_("changed by"),
    )
    created_at = models.DateTimeField(_("in force from"), auto_now_add=True)

    class Meta:
        verbose_name = _("version of a policy")
        verbose_name_plural = _("versions of policies")
        ordering = ["name", "-version"]
        constraints = [models.UniqueConstraint(fields=["policy", "version"], name="one_row_per_version_of_a_policy")]

    def __str__(self) -> str:
        return f"{self.name} v{self.version}"


class PolicyRule(models.Model):
    """One rule: which calls it speaks of, and what it says. Deny wins over ask, ask over allow."""

    class Says(models.TextChoices):
        ALLOW = rules.Says.ALLOW.value, _("Run")
        ASK = rules.Says.ASK.value, _("Ask")
        DENY = rules.Says.DENY.value, _("Refuse")
        RAISE = rules.Says.RAISE.value, _("Raise the risk level")

    TAINTED = [(True, _("After untrusted text was read")), (False, _("Before any untrusted text is read"))]
    ATTENDED = [(True, _("While somebody attends")), (False, _("While nobody attends"))]

    policy = models.ForeignKey(Policy, models.CASCADE, related_name="rules", verbose_name=_("policy"))
    position = models.PositiveSmallIntegerField(_("position"), default=0)
    name = models.CharField(
        _("name"), max_length=80, blank=True, help_text=_("Shown where this rule decided; empty: what it means.")
    )
    tool = models.CharField(
        _("tools"),
        max_length=100,
        default="*",
        validators=[validators.tool_pattern],
        help_text=_("A tool name; * stands for any characters."),
    )
    risk = models.CharField(_("risk level"), max_length=6, choices=Risk, blank=True, help_text=_("Empty: every level."))
    agent = models.ForeignKey(
        "registry.Agent", models.CASCADE, related_name="+", null=True, blank=True, verbose_name=_("agent")
    )
    team = models.ForeignKey(Team, models.CASCADE, related_name="+", null=True, blank=True, verbose_name=_("team"))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, related_name="+", null=True, blank=True, verbose_name=_("who asks")
    )
    role = models.CharField(_("role of who asks"), max_length=10, choices=Role, blank=True)
    tainted = models.BooleanField(_("untrusted text"), choices=TAINTED, null=True, blank=True)
    attended = models.BooleanField(_("somebody attends"), choices=ATTENDED, null=True, blank=True)
    condition = models.JSONField(_("arguments"), null=True, blank=True)
    verdict = models.CharField(_("verdict"), max_length=5, choices=Says)
    raise_to = models.CharField(_("raise to"), max_length=6, choices=Risk, blank=True)
    requires_comment = models.BooleanField(_("a comment is required"), default=False)
    wait_minutes = models.PositiveIntegerField(
        _("minutes to decide"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_MINUTES)],
        help_text=_("Then the approval expires and the call is not run. Empty: it waits for ever."),
    )
    needed = models.PositiveSmallIntegerField(
        _("approvals needed"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_APPROVALS)],
        help_text=_("By so many different people. A rejection by one of them is enough. Empty: one."),
    )
    apart = models.BooleanField(_("who asked may not approve"), default=False)
    by_requester = models.BooleanField(_("who asked"), default=False)
    by_role = models.CharField(_("role in the team"), max_length=10, choices=Role, blank=True)
    by_group = models.ForeignKey(
        "auth.Group", models.PROTECT, related_name="+", null=True, blank=True, verbose_name=_("group")
    )
    people = models.ManyToManyField(settings.AUTH_USER_MODEL, related_name="+", blank=True, verbose_name=_("people"))
    later_minutes = models.PositiveIntegerField(
        _("after minutes"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_MINUTES)],
    )
    later_role = models.CharField(_("role in the team"), max_length=10, choices=Role, blank=True)
    later_group = models.ForeignKey(
        "auth.Group", models.PROTECT, related_name="+", null=True, blank=True, verbose_name=_("group")
    )
    later_people = models.ManyToManyField(
        settings.AUTH_USER_MODEL, related_name="+", blank=True, verbose_name=_("people")
    )
    reason = models.CharField(
        _("reason"), max_length=300, blank=True, help_text=_("Told to the model when the call is refused.")
    )

    class Meta:
        verbose_name = _("rule")
        verbose_name_plural = _("rules")
        ordering = ["policy", "position", "pk"]

    def __str__(self) -> str:
        return self.name or f"{self.tool} {self.risk} → {self.verdict}"

    def clean(self) -> None:
        """A rule must be able to mean what it says. What the form refused already is not looked at again."""
        if self.verdict not in self.Says.values:
            return
        found: dict[str, list[ValidationError]] = {}
        for fault in faults(self.as_rule("", 0, 1)):
            if fault.key != "glob":  # its own validator says so
                field = FIELDS.get(fault.field, fault.field)
                found.setdefault(field, []).append(_sentence(fault))
        if self.agent and self.team and self.agent.team_id not in (None, self.team_id):
            words = _("The agent belongs to another team, so this rule would never mean a call.")
            found.setdefault("agent", []).append(ValidationError(words, code="agent"))
        if found:
            raise ValidationError(found)

    def as_rule(self, policy: str, version: int, number: int) -> rules.Rule:
        """The rule as it is judged by, in that version of the policy. Reads what it names."""
        return rules.Rule(
            policy=policy,
            version=version,
            number=number,
            says=rules.Says(self.verdict),
            tool=self.tool,
            risk=EngineRisk(self.risk) if self.risk else None,
            agent=Named(self.agent.pk, self.agent.name) if self.agent else None,
            team=Named(self.team.pk, self.team.name) if self.team else None,
            user=Named(self.user.pk, self.user.username) if self.user else None,
            role=self.role,
            tainted=self.tainted,
            attended=self.attended,
            condition=self.condition,
            raise_to=EngineRisk(self.raise_to) if self.raise_to else None,
            requires_comment=self.requires_comment,
            wait_minutes=self.wait_minutes or 0,
            deciders=self._deciders(),
            later=self._later(),
            needed=self.needed if self.needed and self.needed > 1 else 0,
            apart=self.apart,
            reason=self.reason,
            name=self.name,
        )

    def _deciders(self) -> Circle | None:
        found = Circle(self.by_requester, self.by_role, _group(self.by_group), self._named("people"))
        return found if found.names_anyone else None

    def _later(self) -> Later | None:
        people = self._named("later_people")
        found = Later(self.later_minutes or 0, self.later_role, _group(self.later_group), people)
        return found if found.minutes or found.names_anyone else None

    def _named(self, field: str) -> tuple[Named, ...]:
        """The chosen people; a form that has not saved its choice yet leaves it in ``chosen``."""
        saved = getattr(self, field).all() if self.pk else ()
        people = vars(self).get("chosen", {}).get(field, saved)
        return tuple(Named(one.pk, one.username) for one in sorted(people, key=lambda one: one.username))


def _group(row: Group | None) -> Named | None:
    return Named(row.pk, row.name) if row else None


def _sentence(fault: Fault) -> ValidationError:
    problem = fault.params.get("problem")
    params = dict(fault.params)
    if problem is not None:
        words = render(problem.keyword, problem.params, gettext)
        params["problem"] = f"{problem.path}: {words}" if problem.path else words
    return ValidationError(gettext(MESSAGES[fault.key]) % params, code=f"rule_{fault.key}")
