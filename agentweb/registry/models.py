"""What admins set up: models, tools with their risk levels, agents and policies."""

import uuid
from decimal import Decimal

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from agentweb.engine.enums import Strategy as EngineStrategy
from agentweb.engine.enums import Unit as EngineUnit
from agentweb.engine.facts import unclosed
from agentweb.registry.chat_models import SECONDS, ChatModel, ModelPrice
from agentweb.registry.goal_models import GoalCheck
from agentweb.registry.policy_models import Policy, PolicyRule, PolicyVersion, Risk
from agentweb.registry.prompt_models import Prompt, PromptVersion
from agentweb.registry.secret_models import Secret
from agentweb.registry.source_models import HttpApi, McpServer, RequestTemplates, ToolSource
from agentweb.teams.models import Team

__all__ = [
    "Agent",
    "Budget",
    "ChatModel",
    "GoalCheck",
    "HttpApi",
    "McpServer",
    "ModelPrice",
    "Policy",
    "PolicyRule",
    "PolicyVersion",
    "Prompt",
    "PromptVersion",
    "RequestTemplates",
    "Risk",
    "Secret",
    "Strategy",
    "Tool",
    "ToolSource",
]


MOST_SUBSTITUTES = 5


class Tool(models.Model):
    """A tool that agents may be given; how it may be used is decided here. Its code is in the toolbox, or it comes from
    a ``source`` outside: with the ``definition`` that was taken in, and the one ``proposed`` if that is another now."""

    class State(models.TextChoices):
        DRAFT = "draft", pgettext_lazy("state of a tool", "Draft")
        ACTIVE = "active", pgettext_lazy("state of a tool", "Active")
        HELD = "held", pgettext_lazy("state of a tool", "On hold")

    class Why(models.TextChoices):
        CHANGED = "changed", _("Its source defines it in another way now.")
        GONE = "gone", _("Its source does not offer it any more.")
        REFUSED = "refused", _("Its source defines it in a way that cannot be used.")

    name = models.CharField(_("name"), max_length=64, unique=True)
    label = models.CharField(_("label"), max_length=100)
    description = models.TextField(_("description for the model"))
    risk = models.CharField(_("risk level"), max_length=6, choices=Risk, default=Risk.HIGH)
    enabled = models.BooleanField(_("enabled"), default=True)
    timeout_s = models.PositiveIntegerField(_("time-out, seconds"), default=60, validators=SECONDS)
    untrusted = models.BooleanField(
        _("returns untrusted text"),
        default=False,
        help_text=_(
            "What it returns was written by others: web pages, mail, other servers. After that, calls that change or "
            "send something count one risk level higher in the conversation, until a person clears it."
        ),
    )
    outbound = models.BooleanField(
        _("sends something out"),
        default=False,
        help_text=_("It reads only, but what it asks for leaves the site: after untrusted text it counts as acting."),
    )
    fact = models.CharField(
        _("what a call does"),
        max_length=300,
        blank=True,
        help_text=_(
            "For those who decide about a call, with places for its arguments, such as: Sends {{ subject }} to "
            "{{ to }}. Empty: people read what the agent says."
        ),
    )
    previews = models.BooleanField(
        _("shows what it would do"),
        default=True,
        help_text=_(
            "Where the tool can tell without doing it. What was shown is compared again right before the call."
        ),
    )
    free_arguments = models.CharField(
        _("arguments that may vary"),
        max_length=300,
        blank=True,
        help_text=_(
            "Names, separated by commas. Who remembers an approval may let these differ from call to call; all other "
            "arguments must be the same. Empty: all must be the same."
        ),
    )
    source = models.ForeignKey(
        ToolSource,
        models.CASCADE,
        related_name="tools",
        null=True,
        blank=True,
        editable=False,
        verbose_name=_("source"),
    )
    true_name = models.CharField(_("name at its source"), max_length=500, blank=True, editable=False)
    definition = models.TextField(blank=True, editable=False)
    digest = models.CharField(max_length=64, blank=True, editable=False)
    proposed = models.TextField(blank=True, editable=False)
    state = models.CharField(_("state"), max_length=6, choices=State, default=State.ACTIVE, editable=False)
    held_why = models.CharField(_("why on hold"), max_length=7, choices=Why, blank=True, editable=False)
    retries = models.PositiveSmallIntegerField(
        _("tried again, times"),
        null=True,
        blank=True,
        validators=[MaxValueValidator(5)],
        help_text=_(
            "After a failure that may pass, within the time-out. Only for tools that may run twice; empty: three times "
            "for them, never for others."
        ),
    )
    keep_s = models.PositiveIntegerField(
        _("answers are kept, seconds"),
        null=True,
        blank=True,
        validators=[MaxValueValidator(86_400)],
        help_text=_(
            "The same question in the same team, or where the tool sees more than its arguments in the same "
            "conversation, gets the same answer. Only for tools that always answer alike, for 60 if empty."
        ),
    )
    fallback = models.ForeignKey(
        "self",
        models.SET_NULL,
        related_name="stands_in_for",
        null=True,
        blank=True,
        verbose_name=_("used instead when it fails"),
        help_text=_("It gets the same arguments, and policies and people are asked about it by itself."),
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        verbose_name = _("tool")
        verbose_name_plural = _("tools")
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(
                fields=["source", "true_name"], condition=~models.Q(source=None), name="one_tool_of_a_source"
            )
        ]

    def __str__(self) -> str:
        return self.label

    def clean(self) -> None:
        """Names places that nothing can fill, and tools that would stand in for each other."""
        if unclosed(self.fact):
            raise ValidationError({"fact": _("A place begins with {{ and is not closed with }}.")})
        self._check_substitutes()

    def _check_substitutes(self) -> None:
        """Whoever stands in must not need, in the end, the one that it stands in for."""
        names, row = [self.label], self.fallback
        while row is not None and len(names) <= MOST_SUBSTITUTES:
            names.append(row.label)
            if row.pk == self.pk:
                words = _("The tools would stand in for each other for ever: %(names)s.")
                raise ValidationError({"fallback": words % {"names": " → ".join(map(str, names))}})
            row = row.fallback
        if row is not None:
            words = _("More than %(limit)d tools would stand in for each other.")
            raise ValidationError({"fallback": words % {"limit": MOST_SUBSTITUTES}})

    @property
    def free(self) -> tuple[str, ...]:
        """The names of the arguments that may vary."""
        return tuple(dict.fromkeys(filter(None, (name.strip() for name in self.free_arguments.split(",")))))


class Strategy(models.TextChoices):
    WINDOW = EngineStrategy.WINDOW.value, _("Send the last turns only")
    SUMMARY = EngineStrategy.SUMMARY.value, _("Sum up what is older")
    LAYERED = EngineStrategy.LAYERED.value, _("Sum up what is older, piece by piece")


class Agent(models.Model):
    """What people talk to: instructions, a model, tools and limits. Without a team it serves every team."""

    public_id = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    name = models.CharField(_("name"), max_length=100, unique=True)
    description = models.CharField(_("description"), max_length=300, blank=True)
    instructions = models.TextField(_("instructions"), blank=True)
    prompt = models.ForeignKey(
        Prompt,
        models.PROTECT,
        related_name="agents",
        null=True,
        blank=True,
        verbose_name=_("system prompt"),
        help_text=_("The template that the instructions go into. Empty: the built-in one."),
    )
    team = models.ForeignKey(Team, models.CASCADE, related_name="agents", null=True, blank=True, verbose_name=_("team"))
    model = models.ForeignKey(
        ChatModel,
        models.PROTECT,
        related_name="agents",
        null=True,
        blank=True,
        verbose_name=_("model"),
        help_text=_("Empty: the model named default, or the scripted one."),
    )
    cheaper_model = models.ForeignKey(
        ChatModel,
        models.PROTECT,
        related_name="+",
        null=True,
        blank=True,
        verbose_name=_("cheaper model"),
        help_text=_("People may choose it for the rest of a run when a budget runs low. Empty: no such choice."),
    )
    fallback_model = models.ForeignKey(
        ChatModel,
        models.PROTECT,
        related_name="+",
        null=True,
        blank=True,
        verbose_name=_("fallback model"),
        help_text=_("Asked for the rest of a run when the model has failed for good. Empty: the run fails then."),
    )
    tools = models.ManyToManyField(Tool, related_name="agents", blank=True, verbose_name=_("tools"))
    max_turns = models.PositiveSmallIntegerField(
        _("turn limit"), default=10, validators=[MinValueValidator(1), MaxValueValidator(200)]
    )
    sequential = models.BooleanField(_("one tool at a time"), default=False)
    loop_guard = models.BooleanField(
        _("notice when it goes in circles"),
        default=True,
        help_text=_("Then the agent is told to change its method, next people are asked, at last it must sum up."),
    )
    folding = models.CharField(
        _("when a conversation is too long"), max_length=7, choices=Strategy, default=Strategy.WINDOW
    )
    whole_turns = models.PositiveSmallIntegerField(
        _("turns that stay whole"),
        default=10,
        validators=[MinValueValidator(1), MaxValueValidator(100)],
        help_text=_("At most; fewer where they are long. With summaries 3 to 5 are enough."),
    )
    fold_at = models.PositiveIntegerField(
        _("too long from, tokens"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1)],
        help_text=_("Empty: nine tenths of what the model takes."),
    )
    fold_every = models.PositiveSmallIntegerField(
        _("also every so many turns"),
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(100)],
        help_text=_("More than those that stay whole. Empty: only when it is too long."),
    )
    enabled = models.BooleanField(_("enabled"), default=True)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        verbose_name = _("agent")
        verbose_name_plural = _("agents")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """A model that failed is no help against itself."""
        if self.fallback_model_id and self.fallback_model_id == self.model_id:
            raise ValidationError({"fallback_model": _("Choose another model than the one that it stands in for.")})


class Budget(models.Model):
    """A ceiling on what runs may spend: each run by itself, or all that begin to count in a calendar month (UTC).

    Without a team, agent or person the scope means each of them separately. ``soft_percent``: people are asked then."""

    class Scope(models.TextChoices):
        ALL = "all", _("Everyone together")
        TEAM = "team", _("Team")
        AGENT = "agent", _("Agent")
        USER = "user", _("Person")

    class Period(models.TextChoices):
        RUN = "run", _("Each run")
        MONTH = "month", _("Calendar month")

    class Unit(models.TextChoices):
        TOKENS = EngineUnit.TOKENS.value, _("Tokens")
        COST = EngineUnit.COST.value, _("Money")
        SECONDS = EngineUnit.SECONDS.value, _("Seconds of work")

    class Deciders(models.TextChoices):
        ADMINS = "admins", _("Admins of the team")
        CHATS = "chats", _("Whoever decides about calls")

    name = models.CharField(_("name"), max_length=100, unique=True)
    scope = models.CharField(_("of"), max_length=5, choices=Scope, default=Scope.ALL)
    team = models.ForeignKey(
        Team, models.CASCADE, related_name="budgets", null=True, blank=True, verbose_name=_("team")
    )
    agent = models.ForeignKey(
        Agent, models.CASCADE, related_name="budgets", null=True, blank=True, verbose_name=_("agent")
    )
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="budgets",
        null=True,
        blank=True,
        verbose_name=_("person"),
    )
    period = models.CharField(_("in"), max_length=5, choices=Period, default=Period.MONTH)
    unit = models.CharField(_("counted in"), max_length=7, choices=Unit, default=Unit.TOKENS)
    limit = models.DecimalField(
        _("limit"), max_digits=18, decimal_places=6, validators=[MinValueValidator(Decimal("0.000001"))]
    )
    soft_percent = models.PositiveSmallIntegerField(
        _("ask at, percent"),
        null=True,
        blank=True,
        default=80,
        validators=[MinValueValidator(1), MaxValueValidator(99)],
        help_text=_("People are asked then whether a run may go on, and with how much more. Empty: never."),
    )
    deciders = models.CharField(_("who decides"), max_length=6, choices=Deciders, default=Deciders.ADMINS)
    enabled = models.BooleanField(_("enabled"), default=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        verbose_name = _("budget")
        verbose_name_plural = _("budgets")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """Only what the scope speaks of can be chosen."""
        chosen = {"team": self.team_id, "agent": self.agent_id, "user": self.user_id}
        wrong = {name: _("The budget is not of this kind.") for name, pk in chosen.items() if pk and name != self.scope}
        if wrong:
            raise ValidationError(wrong)
