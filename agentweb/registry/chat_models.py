"""Language models: how each is reached, what it can do, and what it costs from which day on."""

from datetime import UTC, date, datetime

from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.utils.translation import gettext_lazy as _

from agentweb.llm.config import Structured as WireStructured
from agentweb.llm.config import Thinking as WireThinking
from agentweb.llm.config import ToolProtocol
from agentweb.registry import validators

SECONDS = [MinValueValidator(1), MaxValueValidator(86_400)]
PRICE = {"max_digits": 12, "decimal_places": 6, "default": 0, "validators": [MinValueValidator(0)]}


def today() -> date:
    """The day that prices go by, in UTC, as the months of budgets do."""
    return datetime.now(UTC).date()


class ChatModel(models.Model):
    """A language model behind an OpenAI-compatible endpoint, or the scripted model that needs none."""

    class Kind(models.TextChoices):
        OPENAI = "openai", _("OpenAI-compatible endpoint")
        SCRIPTED = "scripted", _("Scripted, not an AI")

    class Structured(models.TextChoices):
        NONE = WireStructured.NONE.value, _("No promise")
        JSON_OBJECT = WireStructured.JSON_OBJECT.value, _("Some JSON object")
        JSON_SCHEMA = WireStructured.JSON_SCHEMA.value, _("JSON that fits a schema")

    class Thinking(models.TextChoices):
        AS_IT_DOES = WireThinking.AS_IT_DOES.value, _("As the server does")
        ALWAYS = WireThinking.ALWAYS.value, _("Always")
        NEVER = WireThinking.NEVER.value, _("Never")
        COMPLEX = WireThinking.COMPLEX.value, _("For complex tasks only")

    class Protocol(models.TextChoices):
        NATIVE = ToolProtocol.NATIVE.value, _("Tools of the API")
        TEXT = ToolProtocol.TEXT.value, _("Lines of text")
        JSON_ACTION = ToolProtocol.JSON_ACTION.value, _("One JSON object")

    name = models.SlugField(_("name"), max_length=100, unique=True)
    kind = models.CharField(_("kind"), max_length=10, choices=Kind, default=Kind.OPENAI)
    base_url = models.CharField(_("base URL"), max_length=500, blank=True, validators=[validators.http_address])
    encrypted_key = models.TextField(blank=True, editable=False)
    key_hint = models.CharField(_("key ends with"), max_length=4, blank=True, editable=False)
    model_name = models.CharField(_("model name"), max_length=200, blank=True)
    temperature = models.FloatField(
        _("temperature"),
        null=True,
        blank=True,
        default=0,
        validators=[MinValueValidator(0), MaxValueValidator(2)],
        help_text=_("Empty: not sent, for models that refuse it."),
    )
    context_size = models.PositiveIntegerField(
        _("context size, tokens"), default=128_000, validators=[MinValueValidator(1)]
    )
    connect_timeout_s = models.PositiveIntegerField(
        _("longest wait for a connection, seconds"), default=5, validators=SECONDS
    )
    idle_timeout_s = models.PositiveIntegerField(_("longest silence, seconds"), default=60, validators=SECONDS)
    total_timeout_s = models.PositiveIntegerField(_("longest answer, seconds"), default=600, validators=SECONDS)
    headers = models.JSONField(
        _("extra headers"), default=dict, blank=True, editable=False, validators=[validators.headers]
    )
    encrypted_headers = models.TextField(blank=True, editable=False)  # those whose values are secret
    body = models.JSONField(
        _("extra body fields"),
        default=dict,
        blank=True,
        validators=[validators.body],
        help_text=_("Merged over the request and recorded with each run: nothing secret here."),
    )
    protocol = models.CharField(
        _("how it asks for tools"),
        max_length=11,
        choices=Protocol,
        default=Protocol.NATIVE,
        help_text=_(
            "Lines of text and JSON objects are for models or servers that do not know tools, or use them badly; one "
            "tool at a time then. What a server promises about JSON is used for JSON objects."
        ),
    )
    thinking = models.CharField(
        _("asked to think first"),
        max_length=7,
        choices=Thinking,
        default=Thinking.AS_IT_DOES,
        blank=True,
        help_text=_(
            "A task is taken for complex when it is long or has several parts, asks to compare, plan or explain, or "
            "has gone wrong. What thinking costs is in the totals of each run."
        ),
    )
    thinking_on = models.JSONField(
        _("fields that ask for thinking"), default=dict, blank=True, validators=[validators.body]
    )
    thinking_off = models.JSONField(
        _("fields that ask for none"), default=dict, blank=True, validators=[validators.body]
    )
    strict_roles = models.BooleanField(_("roles must alternate"), default=False)
    streams = models.BooleanField(
        _("streams its answers"), default=True, help_text=_("Else the whole answer comes at once, at its end.")
    )
    stream_usage = models.BooleanField(
        _("counts tokens in streams"), default=True, help_text=_("Else tokens and cost are estimated, marked with ≈.")
    )
    native_tools = models.BooleanField(_("takes tools"), default=True)
    parallel_tools = models.BooleanField(_("calls several tools at once"), default=True)
    structured = models.CharField(
        _("structured output"),
        max_length=11,
        choices=Structured,
        default=Structured.NONE,
        blank=True,
        help_text=_("What the server promises about answers in JSON."),
    )
    tested_at = models.DateTimeField(_("tested"), null=True, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("changed"), auto_now=True)

    class Meta:
        verbose_name = _("model")
        verbose_name_plural = _("models")
        ordering = ["name"]

    def __str__(self) -> str:
        return self.name

    def clean(self) -> None:
        """An endpoint is of no use without its address and the model's name."""
        if self.kind != self.Kind.OPENAI:
            return
        needed = {"base_url": self.base_url, "model_name": self.model_name}
        missing = {name: _("An endpoint needs this.") for name, value in needed.items() if not value.strip()}
        if missing:
            raise ValidationError(missing)


class ModelPrice(models.Model):
    """What a model costs from a day on, until the next row. Money for a million tokens; thinking counts as output.

    A row is the record of what was counted with once its day is over, so it is not changed any more."""

    model = models.ForeignKey(ChatModel, models.CASCADE, related_name="prices", verbose_name=_("model"))
    valid_from = models.DateField(_("valid from (UTC)"), default=today)
    input_price = models.DecimalField(_("per million input tokens"), **PRICE)
    cached_price = models.DecimalField(_("per million cached tokens"), **PRICE)
    output_price = models.DecimalField(_("per million output tokens"), **PRICE)

    class Meta:
        verbose_name = _("price")
        verbose_name_plural = _("prices")
        ordering = ["model", "valid_from"]
        constraints = [models.UniqueConstraint(fields=["model", "valid_from"], name="one_price_a_day")]

    def __str__(self) -> str:
        return f"{self.model} {self.valid_from}"

    @property
    def past(self) -> bool:
        return self.pk is not None and self.valid_from < today()
