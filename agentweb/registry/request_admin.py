"""Templates of HTTP requests in the admin: an address, secrets, and what is asked there."""

import re
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _

from agentweb.registry import request_tools, validators
from agentweb.registry.models import ToolSource
from agentweb.registry.source_admin import SourceAdmin, lines_of
from agentweb.registry.source_forms import ValuesForm
from agentweb.registry.source_models import RequestTemplates

NAME = re.compile(r"[A-Z][A-Z0-9_]{0,63}")
EXAMPLE = """create_ticket:
  description: Create a ticket in a project.
  method: POST
  path: /projects/{project}/tickets
  headers: {X-Key: "{secret:TICKETS_KEY}"}
  body: {title: "{title}", labels: "{labels}"}
  parameters:
    project: {type: string, description: Short name of the project.}
    title: {type: string}
    labels: {type: array, items: {type: string}}
  required: [project, title]
"""


class RequestTemplatesForm(ValuesForm):
    """Templates that could not be used are not taken, and say why."""

    document = forms.CharField(
        label=_("Templates"),
        strip=False,
        max_length=200_000,
        widget=forms.Textarea(attrs={"rows": 20, "cols": 90, "spellcheck": "false", "placeholder": EXAMPLE}),
        help_text=_(
            "In YAML or JSON, by the names of the tools. {name} is where an argument goes, {secret:NAME} where a "
            "secret goes. All parameters are required unless required lists some."
        ),
    )

    class Meta:
        model = RequestTemplates
        fields = ["name", "enabled", "url", "document"]
        help_texts = {"url": _("What stands before each path, such as https://api.example.org/v1.")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["url"].required = True
        self.fields["values"].label = _("Secrets")
        self.fields["values"].help_text = _(
            'By name: {"TICKETS_KEY": "…"}. They are stored encrypted and go where templates have places for them, '
            "never to models; you see ••••, which keeps a value as it is."
        )

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        validators.http_address(url)
        return url

    def clean_values(self) -> dict[str, str]:
        values = super().clean_values()
        if wrong := [name for name in values if not NAME.fullmatch(name)]:
            words = _("Use capital letters, digits and underscores for names, not %(name)s.")
            raise ValidationError(words, params={"name": wrong[0]})
        return values

    def clean_document(self) -> str:
        text: str = self.cleaned_data["document"]
        try:
            wrong = [f"{each.true_name}: {each.why_not}" for each in request_tools.offers("", text) if each.why_not]
        except ValueError as error:
            raise ValidationError(str(error)) from error
        if wrong:
            raise ValidationError(wrong)
        return text

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        missing = request_tools.lacking(cleaned.get("document", "{}"), set(cleaned.get("values") or ()))
        if missing and "values" in cleaned:
            words = _("Templates have places for these, which are not entered: %(names)s.")
            self.add_error("values", ValidationError(words, params={"names": ", ".join(missing)}))
        return cleaned

    def save(self, commit: bool = True) -> Any:
        self.instance.kind = ToolSource.Kind.REQUEST
        return super().save(commit)


@admin.register(RequestTemplates)
class RequestTemplatesAdmin(SourceAdmin):
    """Each template is a tool; one that was released and is changed is on hold until an admin agrees."""

    KINDS = (ToolSource.Kind.REQUEST,)
    form = RequestTemplatesForm
    list_display = ["name", "url", "enabled", "count", "updated_at"]
    list_filter = ["enabled"]
    search_fields = ["name", "url"]
    readonly_fields: list[str] = []
    fields = ["name", "enabled", "url", "values", "document"]

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        for words, names in lines_of(request_tools.take_in(obj)):
            messages.info(request, format_html("{} {}", words, names))
