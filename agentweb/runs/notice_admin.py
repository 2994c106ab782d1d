"""Webhooks in the admin: where a team's programs are told of what waits, and what went wrong last."""

from typing import Any

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from agentweb.runs import outbound, webhooks
from agentweb.runs.notice_models import Webhook


class WebhookForm(forms.ModelForm):
    """The secret is entered and never shown."""

    secret = forms.CharField(
        label=_("secret"),
        required=False,
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "off"}),
        min_length=16,
        max_length=200,
        help_text=_("Signs each request. It is stored encrypted; leave this empty to keep the one there is."),
    )

    class Meta:
        model = Webhook
        fields = ["team", "url", "enabled"]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        if not self.instance.encrypted_secret and not cleaned.get("secret") and "secret" not in self.errors:
            self.add_error("secret", _("Enter a secret, so that the other side can tell who is asking."))
        return cleaned


@admin.register(Webhook)
class WebhookAdmin(admin.ModelAdmin):
    """A request for each approval that the team's people are asked for."""

    form = WebhookForm
    fields = ["team", "url", "secret", "secret_hint", "enabled", "last_sent_at", "what_failed", "last_error_at"]
    readonly_fields = ["secret_hint", "last_sent_at", "what_failed", "last_error_at"]
    list_display = ["url", "team", "enabled", "last_sent_at", "what_failed", "last_error_at"]
    list_filter = ["enabled", "team"]
    list_select_related = ["team"]
    search_fields = ["url", "team__name"]

    @admin.display(description=_("last error"), ordering="last_error")
    def what_failed(self, webhook: Webhook) -> str:
        return outbound.retold(webhook.last_error)

    def save_model(self, request: HttpRequest, obj: Webhook, form: Any, change: bool) -> None:
        if secret := form.cleaned_data.get("secret"):
            webhooks.give_secret(webhook=obj, secret=secret)
        if not change:
            webhooks.begin_here(obj)
        super().save_model(request, obj, form, change)
