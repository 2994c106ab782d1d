"""System prompts in the admin: the text that counts from the next run on, and below it every text that there was."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.http import HttpRequest
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agentweb.registry import placeholders, prompts, services
from agentweb.registry.models import Prompt, PromptVersion

HELP = _(
    "It counts for runs that begin from now on. Placeholders: {{ agent }}, {{ instructions }}, {{ tools }}, "
    "{{ tool_names }}, and of the run that begins {{ question }}, {{ notes }}, {{ date }}, {{ team }}. A prompt that "
    "is the same for every run can be cached by providers, which is cheaper."
)


class PromptForm(forms.ModelForm):
    class Meta:
        model = Prompt
        fields = ["name", "text"]
        widgets = {"text": forms.Textarea(attrs={"rows": 22, "cols": 100, "class": "vLargeTextField"})}
        help_texts = {"text": HELP}


class VersionInline(admin.StackedInline):
    """Read only."""

    model = PromptVersion
    extra = 0
    fields = ["created_at", "created_by", "text"]
    readonly_fields = ["created_at", "created_by", "text"]
    ordering = ["-version"]
    classes = ["collapse"]

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


@admin.register(Prompt)
class PromptAdmin(admin.ModelAdmin):
    form = PromptForm
    list_display = ["name", "version", "updated_at"]
    search_fields = ["name", "text"]
    readonly_fields = ["version"]
    fields = ["name", "text", "version"]
    inlines = [VersionInline]

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """A new one begins with the built-in text."""
        return {"text": prompts.BUILT_IN, **super().get_changeform_initial_data(request)}

    def save_model(self, request: HttpRequest, obj: Prompt, form: forms.ModelForm, change: bool) -> None:
        """The text goes through the service alone, so that each has its version."""
        text = form.cleaned_data["text"]
        if change:
            obj.save(update_fields=["name", "updated_at"])
        else:
            obj.save()
        services.write_prompt(prompt=obj, text=text, by=request.user)
        if "instructions" not in placeholders.used(text):
            words = gettext("The instructions of agents are not used: the text has no {{ instructions }}.")
            messages.warning(request, words)
