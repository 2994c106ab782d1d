"""HTTP APIs in the admin: an address, credentials, and a page that takes in a document."""

import re
from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agentweb.registry import http_apis, validators
from agentweb.registry.models import Tool, ToolSource
from agentweb.registry.secrets import SecretUnreadable
from agentweb.registry.source_admin import SourceAdmin, lines_of
from agentweb.registry.source_forms import ValuesForm
from agentweb.registry.source_models import HttpApi
from agentweb.toolbox.openapi.document import LONGEST

PLACE = re.compile(r"bearer|basic|header [!#$%&'*+.^_`|~0-9A-Za-z-]+|query [^\s&=#]+")


class HttpApiForm(ValuesForm):
    """The address is an admin's: what a document says of servers is only shown."""

    only = forms.CharField(
        label=_("Operations with these words"),
        required=False,
        max_length=300,
        help_text=_("Parts of paths, names or tags, separated by blanks; any of them is enough. Empty: all."),
    )

    class Meta:
        model = HttpApi
        fields = ["name", "enabled", "url"]
        help_texts = {"url": _("What stands before each path, such as https://api.example.org/v1.")}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["url"].required = True
        self.initial["only"] = self.instance.settings.get("only", "")
        self.fields["values"].label = _("Credentials")
        self.fields["values"].help_text = _(
            'By where each belongs: {"bearer": "…"}, {"basic": "name:password"}, {"header X-API-Key": "…"} or '
            '{"query key": "…"}. They are stored encrypted and sent with each call; you see ••••, which keeps a value '
            "as it is."
        )

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        validators.http_address(url)
        return url

    def clean_values(self) -> dict[str, str]:
        values = super().clean_values()
        for name, value in values.items():
            if not PLACE.fullmatch(name):
                words = _("Not a place for a credential: %(name)s. Use bearer, basic, header NAME or query NAME.")
                raise ValidationError(words, params={"name": name})
            place, _blank, of = name.partition(" ")
            if place in ("header", "bearer"):
                validators.headers({of or "Authorization": value})
        return values

    def save(self, commit: bool = True) -> Any:
        self.instance.kind = ToolSource.Kind.OPENAPI
        self.instance.settings = {**self.instance.settings, "only": self.cleaned_data["only"]}
        return super().save(commit)


class DocumentForm(forms.Form):
    """A file, or text."""

    file = forms.FileField(label=_("File"), required=False)
    text = forms.CharField(
        label=_("or its text"), required=False, widget=forms.Textarea(attrs={"rows": 8, "spellcheck": "false"})
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        file, text = cleaned.get("file"), cleaned.get("text") or ""
        if bool(file) == bool(text.strip()):
            raise ValidationError(_("Choose a file or paste a text, one of the two."))
        if file and file.size > LONGEST:
            raise ValidationError(_("The file is too large."))
        try:
            cleaned["document"] = file.read().decode("utf-8-sig") if file else text
        except UnicodeDecodeError as error:
            raise ValidationError(_("The file is no text in UTF-8.")) from error
        return cleaned


@admin.register(HttpApi)
class HttpApiAdmin(SourceAdmin):
    """Each operation is a tool; a document that is taken in again shows what has changed."""

    KINDS = (ToolSource.Kind.OPENAPI,)
    form = HttpApiForm
    list_display = ["name", "url", "title", "enabled", "count"]
    list_filter = ["enabled"]
    readonly_fields = ["title"]
    fieldsets = [
        (None, {"fields": ["name", "enabled", "url", "values"]}),
        (_("Document"), {"fields": ["only", "title"]}),
    ]

    @admin.display(description=_("document"))
    def title(self, source: ToolSource) -> str:
        return str(source.settings.get("title") or "–")

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [path("<int:pk>/document/", view(self.document), name="registry_httpapi_document"), *super().get_urls()]

    def document(self, request: HttpRequest, pk: int) -> HttpResponse:
        """A form for a document, and what came of it."""
        source = self.source(request, pk)
        form = DocumentForm(request.POST, request.FILES) if request.method == "POST" else DocumentForm()
        read, problem = None, ""
        if request.method == "POST" and form.is_valid():
            try:
                read = http_apis.take_in(source, form.cleaned_data["document"])
                self.log_change(request, source, f"Took in {len(read.report.new)} tools")
            except (http_apis.Refused, SecretUnreadable) as error:
                problem = str(error)
        title = gettext("Take in a document of %(name)s") % {"name": source.name}
        report = read.report if read else None
        more = {"form": form, "read": read, "report": report, "lines": lines_of(report) if report else ()}
        return self.page(request, "admin/registry/httpapi/document.html", title, source, problem=problem, **more)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if not Tool.objects.filter(source=obj.pk).exists():
            messages.info(request, _("It has no tools yet: take in a document."))
