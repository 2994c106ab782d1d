"""Secrets of tools in the admin: written once, never shown again."""

from typing import Any

from django import forms
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest
from django.utils.decorators import method_decorator
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters

from agentweb.registry import catalog, secrets
from agentweb.registry.models import Tool
from agentweb.registry.secret_models import Secret

MOST_CHARACTERS = 20_000


class SecretForm(forms.ModelForm):
    """What is stored shows in its last four characters only."""

    value = forms.CharField(
        label=_("value"),
        required=False,
        max_length=MOST_CHARACTERS,
        strip=True,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password", "class": "vTextField"}),
        help_text=_("Stored encrypted and never shown again. Empty: it stays as it is."),
    )

    class Meta:
        model = Secret
        fields = ["name", "note", "tools"]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        asking = [name for name, tool in catalog.tools().items() if getattr(tool, "secrets", ())]
        self.fields["tools"].queryset = Tool.objects.filter(source=None, name__in=asking)

    def clean_value(self) -> str:
        value: str = self.cleaned_data["value"]
        if not value and not self.instance.encrypted_value:
            raise forms.ValidationError(_("Enter the value."))
        if "\0" in value:
            raise forms.ValidationError(_("This holds a character that cannot be stored."))
        return value

    def clean(self) -> dict[str, Any]:
        """A tool gets nothing that its code does not name."""
        cleaned = super().clean() or self.cleaned_data
        name, code = cleaned.get("name"), catalog.tools()
        wrong = [
            tool.name for tool in cleaned.get("tools") or () if name not in getattr(code[tool.name], "secrets", ())
        ]
        if name and wrong:
            words = _("The code of these tools does not ask for a secret of this name: %(names)s.")
            self.add_error("tools", forms.ValidationError(words, params={"names": ", ".join(wrong)}))
        return cleaned

    def save(self, commit: bool = True) -> Any:
        if value := self.cleaned_data["value"]:
            self.instance.encrypted_value, self.instance.hint = secrets.encrypt(value), secrets.hint(value)
        return super().save(commit)


@admin.register(Secret)
class SecretAdmin(admin.ModelAdmin):
    form = SecretForm
    list_display = ["name", "note", "shown_hint", "for_tools", "updated_at"]
    search_fields = ["name", "note"]
    fields = ["name", "note", "value", "shown_hint", "tools"]
    readonly_fields = ["shown_hint"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Secret]:
        found: QuerySet[Secret] = super().get_queryset(request)
        return found.prefetch_related("tools")

    @admin.display(description=_("stored"))
    def shown_hint(self, secret: Secret) -> str:
        return f"••••{secret.hint}" if secret.encrypted_value else "–"

    @admin.display(description=_("tools"))
    def for_tools(self, secret: Secret) -> str:
        return ", ".join(tool.name for tool in secret.tools.all()) or "–"

    @method_decorator(sensitive_post_parameters("value"))
    def changeform_view(self, *args: Any, **kwargs: Any) -> Any:
        return super().changeform_view(*args, **kwargs)
