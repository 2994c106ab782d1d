"""The forms in which admins set up models."""

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from agentweb.engine.facts import places
from agentweb.registry import catalog, faults, headers, set_up, validators
from agentweb.registry.chat_models import today
from agentweb.registry.fields import JsonObjectField
from agentweb.registry.models import ChatModel, GoalCheck, ModelPrice, Tool
from agentweb.registry.secrets import SecretUnreadable


class ChatModelForm(forms.ModelForm):
    """The key can be written and never read: what is stored shows in its last four characters only."""

    key = forms.CharField(
        label=_("API key"),
        required=False,
        max_length=1000,
        validators=[validators.api_key],
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password", "class": "vTextField"}),
        help_text=_("Stored encrypted and never shown again. Empty: the key stays as it is."),
    )
    forget_key = forms.BooleanField(label=_("Forget the key"), required=False)
    headers = JsonObjectField(
        label=_("Extra headers"),
        required=False,
        help_text=_(
            'Sent with each request: {"X-Team": "blue"}. What may be secret is stored encrypted; of that you see ••••, '
            "which keeps the value as it is."
        ),
    )
    body = JsonObjectField(
        label=_("Extra body fields"),
        required=False,
        help_text=_("Merged over the request and recorded with each run: nothing secret here."),
    )

    thinking_on = JsonObjectField(
        label=_("Fields that ask for thinking"),
        required=False,
        help_text=_('Empty: {"reasoning_effort": "medium"}. Servers differ in this.'),
    )
    thinking_off = JsonObjectField(
        label=_("Fields that ask for none"),
        required=False,
        help_text=_(
            'Empty: {"reasoning_effort": "none"}. Others want {"chat_template_kwargs": {"enable_thinking": false}} or '
            '{"thinking": {"type": "disabled"}}.'
        ),
    )

    class Meta:
        model = ChatModel
        exclude = ["encrypted_key", "key_hint", "headers", "encrypted_headers"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._kept: list[str] = []  # headers whose stored values are to stay
        try:
            self.initial["headers"] = headers.masked(self.instance)
        except SecretUnreadable:  # the start page says so; what cannot be read must be entered again
            self.initial["headers"] = self.instance.headers

    def clean_headers(self) -> dict[str, str]:
        """As typed, with the stored values where their masks were left."""
        typed = self.cleaned_data["headers"]
        self._kept = headers.kept(typed)
        validators.headers({name: "" if headers.is_masked(value) else value for name, value in typed.items()})
        try:
            return headers.unmasked(self.instance, typed)
        except (KeyError, SecretUnreadable) as error:
            names = ", ".join(self._kept)
            words = _("There is no stored value behind •••• for all of these: %(names)s. Enter them again.")
            raise ValidationError(words, code="headers", params={"names": names}) from error

    def clean(self) -> dict[str, Any]:
        """A key goes only to the server for which it was entered: who moves the endpoint enters it again."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("key") and cleaned.get("forget_key"):
            self.add_error("forget_key", _("Enter a key or forget the old one, not both."))
        if "base_url" in cleaned and _server(cleaned["base_url"]) != _server(self.initial.get("base_url", "")):
            self._moved(cleaned)
        return cleaned

    def _moved(self, cleaned: dict[str, Any]) -> None:
        """Nothing secret goes along to another server."""
        if self.instance.encrypted_key and not cleaned.get("key") and not cleaned.get("forget_key"):
            self.add_error("key", _("The base URL names another server now: enter its key, or forget the old one."))
        if self._kept:
            self.add_error("headers", _("The base URL names another server now: enter the hidden values again."))


class PriceForm(forms.ModelForm):
    """Prices of days that are over stay as they were: what was spent then was counted with them."""

    class Meta:
        model = ModelPrice
        fields = ["valid_from", "input_price", "cached_price", "output_price"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.past:
            for field in self.fields.values():
                field.disabled = True

    def clean_valid_from(self) -> Any:
        day = self.cleaned_data["valid_from"]
        if "valid_from" in self.changed_data and day < today():
            words = _("This day is over, and what was spent then is counted. The earliest is today, %(today)s.")
            raise ValidationError(words, code="past", params={"today": today().isoformat()})
        return day


class PriceFormSet(forms.BaseInlineFormSet):
    def add_fields(self, form: Any, index: int | None) -> None:
        super().add_fields(form, index)
        if form.instance.past and "DELETE" in form.fields:
            form.fields["DELETE"].disabled = True


class GoalCheckForm(forms.ModelForm):
    """The schema is typed as JSON text, and blanks at the ends of a pattern mean something."""

    schema = JsonObjectField(
        label=_("JSON Schema"), required=False, help_text=_('Such as {"type": "object", "required": ["total"]}')
    )

    pattern = forms.CharField(
        label=_("Pattern"), required=False, strip=False, max_length=1000, help_text=_("A regular expression.")
    )

    class Meta:
        model = GoalCheck
        exclude = ["agent"]


class ToolForm(forms.ModelForm):
    """How a tool may be used."""

    class Meta:
        model = Tool
        exclude: list[str] = []

    def clean_fact(self) -> str:
        """Only places that a call can fill."""
        fact: str = self.cleaned_data["fact"]
        code = self._code()
        known = code.spec.parameters.get("properties", {}) if code else {}
        if unknown := [name for name in places(fact) if code and name not in known]:
            words = _("There is nothing for the place %(unknown)s. There are: %(known)s.")
            named = ", ".join(f"{{{{ {name} }}}}" for name in known) or "–"
            raise ValidationError(words, params={"unknown": f"{{{{ {unknown[0][:50]} }}}}", "known": named})
        return fact

    def clean_retries(self) -> int | None:
        """What may not run twice is never tried again."""
        retries: int | None = self.cleaned_data["retries"]
        code = self._code()
        if retries and code and not set_up.may_retry(code.spec):
            raise ValidationError(_("This tool may not run twice, so it is never tried again."))
        return retries

    def clean_keep_s(self) -> int | None:
        """Only what always answers alike."""
        keep_s: int | None = self.cleaned_data["keep_s"]
        code = self._code()
        if keep_s and code and not set_up.may_keep(code.spec):
            raise ValidationError(_("This tool may answer otherwise the next time, so no answer is kept."))
        return keep_s

    def _code(self) -> Any:
        return catalog.find_one(self.instance.name) if faults.tools_in_code() is not None else None

    def clean_free_arguments(self) -> str:
        """Only names that the tool has: a misspelt one would let nothing vary, and nobody would see it."""
        names = Tool(free_arguments=self.cleaned_data["free_arguments"]).free
        code = self._code()
        known = code.spec.parameters.get("properties", {}) if code else {}
        if unknown := [name for name in names if name not in known]:
            words = _("The tool has no such arguments: %(names)s. It has: %(known)s.")
            raise ValidationError(words, params={"names": ", ".join(unknown), "known": ", ".join(known) or "–"})
        return ", ".join(names)


def _server(address: str) -> tuple[str, str]:
    try:
        parts = urlsplit(address)
    except ValueError:  # no address at all, and refused for that
        return "", address
    return parts.scheme, parts.netloc.lower()
