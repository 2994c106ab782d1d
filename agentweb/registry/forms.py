"""The forms in which admins set up models."""

from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.utils.translation import gettext_lazy as _

from agentweb.registry import validators
from agentweb.registry.fields import JsonObjectField
from agentweb.registry.models import ChatModel, GoalCheck


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
        label=_("Extra headers"), required=False, help_text=_('Sent with each request: {"X-Team": "blue"}')
    )
    body = JsonObjectField(
        label=_("Extra body fields"),
        required=False,
        help_text=_("Merged over the request and recorded with each run: nothing secret here."),
    )

    class Meta:
        model = ChatModel
        exclude = ["encrypted_key", "key_hint"]

    def clean(self) -> dict[str, Any]:
        """A key goes only to the server for which it was entered: who moves the endpoint enters it again."""
        cleaned = super().clean() or self.cleaned_data
        if cleaned.get("key") and cleaned.get("forget_key"):
            self.add_error("forget_key", _("Enter a key or forget the old one, not both."))
        kept = self.instance.encrypted_key and not cleaned.get("key") and not cleaned.get("forget_key")
        if kept and "base_url" in cleaned and _server(cleaned["base_url"]) != _server(self.initial.get("base_url", "")):
            self.add_error("key", _("The base URL names another server now: enter its key, or forget the old one."))
        return cleaned


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


def _server(address: str) -> tuple[str, str]:
    parts = urlsplit(address)
    return parts.scheme, parts.netloc.lower()
