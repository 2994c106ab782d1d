"""The forms in which admins set up where tools come from."""

import re
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from agentweb.registry import source_values, validators
from agentweb.registry.fields import JsonObjectField
from agentweb.registry.models import ToolSource
from agentweb.registry.secrets import SecretUnreadable
from agentweb.registry.source_models import McpServer

VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,99}")
OUR_VARIABLES = frozenset(
    ("SECRET_KEY", "SECRET_KEY_FALLBACKS", "DATABASE_URL", "REDIS_URL", "OPENAI_API_KEY", "EMAIL_URL")
)


class LinesField(forms.CharField):
    """A list of texts, one a line."""

    widget = forms.Textarea(attrs={"rows": 3, "cols": 60, "spellcheck": "false"})

    def to_python(self, value: Any) -> Any:
        return [line.strip() for line in (super().to_python(value) or "").splitlines() if line.strip()]

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list) else value

    def has_changed(self, initial: Any, data: Any) -> bool:
        return (initial or []) != self.to_python(data)


class ValuesForm(forms.ModelForm):
    """What may be secret can be written and never read: what is stored shows in its last four characters only."""

    values = JsonObjectField(label=_("Secret values"), required=False)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._kept: list[str] = []  # names whose stored values are to stay
        try:
            self.initial["values"] = source_values.masked(self.instance)
        except SecretUnreadable:  # what cannot be read must be entered again
            self.initial["values"] = {}

    def clean_values(self) -> dict[str, str]:
        """As typed, with the stored values where their masks were left."""
        typed = self.cleaned_data["values"]
        if not all(isinstance(value, str) and value for value in typed.values()):
            raise ValidationError(_("Each value must be a text that is not empty."))
        self._kept = source_values.kept(typed)
        try:
            return source_values.unmasked(self.instance, typed)
        except (KeyError, SecretUnreadable) as error:
            words = _("There is no stored value behind •••• for all of these: %(names)s. Enter them again.")
            raise ValidationError(words, params={"names": ", ".join(self._kept)}) from error

    def clean(self) -> dict[str, Any]:
        """Nothing secret goes along to another server."""
        cleaned = super().clean() or self.cleaned_data
        moved = urlsplit(cleaned.get("url") or "")[:2] != urlsplit(self.initial.get("url") or "")[:2]
        if self._kept and moved:
            self.add_error("values", _("The address names another server now: enter the hidden values again."))
        return cleaned

    def save(self, commit: bool = True) -> Any:
        source_values.give(self.instance, self.cleaned_data["values"])
        if self.has_changed():
            self.instance.state, self.instance.last_error = ToolSource.State.UNKNOWN, ""
        return super().save(commit)


class McpServerForm(ValuesForm):
    """One form for both ways to a server: each needs other fields."""

    kind = forms.ChoiceField(
        label=_("Kind"),
        choices=[(kind.value, kind.label) for kind in (ToolSource.Kind.MCP_STDIO, ToolSource.Kind.MCP_HTTP)],
    )
    arguments = LinesField(label=_("Arguments"), required=False, help_text=_("One a line."))
    environment = LinesField(
        label=_("Inherited variables"),
        required=False,
        help_text=_(
            "Names of variables that it gets from the worker, one a line. PATH, HOME, LANG and TZ it always gets."
        ),
    )

    class Meta:
        model = McpServer
        fields = ["name", "kind", "enabled", "command", "arguments", "folder", "environment", "url"]
        help_texts = {
            "command": _("The program that is started, as the worker's own user: only what you trust."),
            "folder": _("Empty: where the worker works."),
            "url": _("Such as https://tools.example.org/mcp. Redirects are followed on the same server only."),
        }

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["values"].help_text = _(
            'Variables of the process, or headers of each request: {"API_KEY": "…"}. They are stored encrypted; you '
            "see ••••, which keeps a value as it is."
        )

    def clean_environment(self) -> list[str]:
        names: list[str] = self.cleaned_data["environment"]
        if wrong := [name for name in names if not VARIABLE.fullmatch(name) or name in OUR_VARIABLES]:
            words = _("These cannot be handed on: %(names)s. The secrets of this site are for nobody else.")
            raise ValidationError(words, params={"names": ", ".join(wrong)})
        return names

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        if cleaned.get("kind") == ToolSource.Kind.MCP_STDIO:
            self._need("command", cleaned)
            wrong = [name for name in cleaned.get("values") or {} if not VARIABLE.fullmatch(name)]
            if wrong:
                self.add_error(
                    "values", ValidationError(_("No variable has such a name: %(name)s"), params={"name": wrong[0]})
                )
        else:
            self._need("url", cleaned)
            self._check("url", validators.hook_address, cleaned.get("url"))
            self._check("values", validators.headers, cleaned.get("values"))
        return cleaned

    def _need(self, name: str, cleaned: dict[str, Any]) -> None:
        if not (cleaned.get(name) or "").strip() and name not in self.errors:
            self.add_error(name, _("A server of this kind needs this."))

    def _check(self, name: str, validate: Any, value: Any) -> None:
        try:
            if value:
                validate(value)
        except ValidationError as error:
            self.add_error(name, error)
