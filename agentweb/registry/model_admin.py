"""Models in the admin: what they are, a test of each, and a look for servers on this machine."""

from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.text import slugify
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST

from agentweb.registry import headers, services, tryouts
from agentweb.registry.forms import ChatModelForm, PriceForm, PriceFormSet
from agentweb.registry.models import ChatModel, ModelPrice
from agentweb.registry.snapshots import CAPABILITIES, DEFAULT_MODEL


@dataclass(frozen=True, slots=True)
class Offered:
    """A model of a server on this machine. ``known``: there is a row for it already; ``add`` leads to its form."""

    name: str
    context_size: int
    known: bool
    add: str


def free_name(model_name: str) -> str:
    """A name for a row that no other has, and that makes it no agent's model by itself."""
    base = slugify(model_name.rpartition("/")[2].replace(":", "-").replace(".", "-"))[:90] or "local"
    taken = {DEFAULT_MODEL, *ChatModel.objects.filter(name__startswith=base).values_list("name", flat=True)}
    return next(name for name in (base, *(f"{base}-{n}" for n in range(2, len(taken) + 3))) if name not in taken)


class PriceInline(admin.TabularInline):
    model = ModelPrice
    form = PriceForm
    formset = PriceFormSet
    extra = 0
    ordering = ["valid_from"]
    verbose_name_plural = _("prices: money for a million tokens, from a day on")


@admin.register(ChatModel)
class ChatModelAdmin(admin.ModelAdmin):
    form = ChatModelForm
    list_display = ["name", "kind", "model_name", "base_url", "stored_key", "tested_at", "updated_at"]
    list_filter = ["kind"]
    search_fields = ["name", "model_name", "base_url"]
    readonly_fields = ["stored_key", "tested_at"]
    fieldsets = [
        (None, {"fields": ["name", "kind"]}),
        (_("Endpoint"), {"fields": ["base_url", "model_name", "stored_key", "key", "forget_key", "headers", "body"]}),
        (_("Behaviour"), {"fields": ["temperature", "context_size", "protocol", "strict_roles"]}),
        (_("Thinking"), {"fields": ["thinking", "thinking_on", "thinking_off"]}),
        (_("Time-outs"), {"fields": ["connect_timeout_s", "idle_timeout_s", "total_timeout_s"]}),
        (_("What it can do"), {"fields": [*CAPABILITIES, "tested_at"]}),
    ]
    inlines = [PriceInline]

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("look/", view(self.look), name="registry_chatmodel_look"),
            path("<int:pk>/test/", view(self.test), name="registry_chatmodel_test"),
            path("<int:pk>/found/", view(require_POST(self.found)), name="registry_chatmodel_found"),
            *super().get_urls(),
        ]

    def look(self, request: HttpRequest) -> HttpResponse:
        """Model servers on this machine, each with its models; a click leads to the form, filled in but not saved."""
        if not self.has_add_permission(request):
            raise PermissionDenied
        servers = None
        if request.method == "POST":
            known = set(ChatModel.objects.values_list("base_url", "model_name"))
            found = tryouts.look_around()
            servers = [(server, [self._offer(server, offer, known) for offer in server.models]) for server in found]
        title, places = gettext("Model servers on this machine"), settings.LOCAL_MODEL_SERVERS
        return self._page(request, "local", title, servers=servers, places=places)

    def _offer(self, server: Any, offer: Any, known: set[tuple[str, str]]) -> Offered:
        values = {"name": free_name(offer.name), "base_url": server.base_url, "model_name": offer.name}
        if offer.context_size:
            values["context_size"] = str(offer.context_size)
        add = f"{reverse('admin:registry_chatmodel_add', current_app=self.admin_site.name)}?{urlencode(values)}"
        return Offered(offer.name, offer.context_size, (server.base_url, offer.name) in known, add)

    def test(self, request: HttpRequest, pk: int) -> HttpResponse:
        """What a test would do, and after the click what it found. Nothing is sent before."""
        model = self._model(request, pk)
        report = tryouts.try_out(model) if request.method == "POST" and model.kind == ChatModel.Kind.OPENAI else None
        title = gettext("Test the model %(name)s") % {"name": model.name}
        return self._page(request, "test", title, original=model, report=report, stored_key=self.stored_key(model))

    def found(self, request: HttpRequest, pk: int) -> HttpResponse:
        """Store what a test found: the yes of an admin who has seen it."""
        model = self._model(request, pk)
        try:
            changes = tryouts.store(model, request.POST.get("token", ""), request.POST.getlist("take"))
        except tryouts.Outdated:
            words = gettext(
                "Nothing was stored: the model was changed since the test, or the test is too old. Test it again."
            )
            messages.error(request, words)
            return redirect("admin:registry_chatmodel_test", pk)
        self.log_change(request, model, [{"changed": {"fields": [change.label for change in changes]}}])
        messages.success(request, _("What the test found is stored."))
        return redirect("admin:registry_chatmodel_change", pk)

    def _model(self, request: HttpRequest, pk: int) -> ChatModel:
        model = get_object_or_404(ChatModel, pk=pk)
        if not self.has_change_permission(request, model):
            raise PermissionDenied
        return model

    def _page(self, request: HttpRequest, name: str, title: str, **more: Any) -> HttpResponse:
        context = {**self.admin_site.each_context(request), "title": title, "opts": self.opts, **more}
        return TemplateResponse(request, f"admin/registry/chatmodel/{name}.html", context)

    @admin.display(description=_("stored key"))
    def stored_key(self, model: ChatModel) -> str:
        if not model.encrypted_key:
            return "–"
        return f"…{model.key_hint}"

    @method_decorator(sensitive_post_parameters("key", "headers"))
    def changeform_view(self, *args: Any, **kwargs: Any) -> Any:
        return super().changeform_view(*args, **kwargs)

    def save_model(self, request: HttpRequest, obj: ChatModel, form: forms.ModelForm, change: bool) -> None:
        key = form.cleaned_data["key"]
        if key or form.cleaned_data["forget_key"]:
            services.give_key(model=obj, key=key)
        headers.give(obj, form.cleaned_data["headers"])
        super().save_model(request, obj, form, change)
