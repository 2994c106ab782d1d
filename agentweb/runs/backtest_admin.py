"""Backtests in the admin: start one, watch how far it is, read what it found, cancel it."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from agentweb.policy import stored
from agentweb.registry import drafts
from agentweb.registry.models import Policy
from agentweb.registry.policies import rules_in
from agentweb.runs import backtests
from agentweb.runs.backtest_models import Backtest, Verdict

PAGE = 100
UNSAVED = "draft"


class BacktestForm(forms.ModelForm):
    """Which rules, over which calls."""

    policy = forms.ChoiceField(
        label=_("Policy"), help_text=_("It is tried together with all other policies that are switched on.")
    )
    field_order = ["policy", "since", "until", "most"]

    class Meta:
        model = Backtest
        fields = ["since", "until", "most"]

    draft: drafts.Draft | None = None  # given by the page

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        saved = [(str(policy.pk), str(policy)) for policy in Policy.objects.order_by("name")]
        unsaved = [(UNSAVED, _("%(policy)s (not saved)") % {"policy": self.draft.name})] if self.draft else []
        self.fields["policy"].choices = [*unsaved, *saved]

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        since, until = cleaned.get("since"), cleaned.get("until")
        if since and until and since >= until:
            self.add_error("until", _("The end lies before the beginning."))
        return cleaned

    def chosen(self) -> drafts.Draft:
        """The rules that were chosen: the unsaved ones, or those of a policy as it is in force."""
        if self.cleaned_data["policy"] == UNSAVED and self.draft:
            return self.draft
        policy = Policy.objects.get(pk=self.cleaned_data["policy"])
        version = policy.versions.order_by("-version").first()
        said = tuple(stored.data(rule) for rule in rules_in(version)) if version and policy.enabled else ()
        return drafts.Draft(policy.name, str(policy), said)


@admin.register(Backtest)
class BacktestAdmin(admin.ModelAdmin):
    """What a policy would have made of recorded calls."""

    form = BacktestForm
    fields = ["policy", "since", "until", "most"]
    list_display = [
        "name",
        "status",
        "done",
        "total",
        "allowed",
        "asked",
        "denied",
        "changed",
        "created_by",
        "created_at",
    ]
    list_filter = ["status"]
    list_select_related = ["created_by"]
    search_fields = ["name"]
    show_full_result_count = False

    def get_urls(self) -> list[URLPattern]:
        cancel = path("<int:pk>/cancel/", self.admin_site.admin_view(self.cancel), name="runs_backtest_cancel")
        return [cancel, *super().get_urls()]

    def get_form(self, request: HttpRequest, obj: Backtest | None = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change=change, **{**kwargs, "fields": ["since", "until", "most"]})
        form.draft = drafts.kept(request.session)
        return form

    def save_model(self, request: HttpRequest, obj: Backtest, form: Any, change: bool) -> None:
        said = form.cleaned_data
        started = backtests.start(
            user=request.user, draft=form.chosen(), since=said["since"], until=said["until"], most=said["most"]
        )
        obj.pk, obj.name = started.pk, started.name

    def response_add(self, request: HttpRequest, obj: Backtest, post_url_continue: str | None = None) -> HttpResponse:
        return redirect("admin:runs_backtest_change", obj.pk)

    def has_change_permission(self, request: HttpRequest, obj: Backtest | None = None) -> bool:
        return False

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        """How far it is, and what it found: the numbers, and the calls page by page."""
        found = self.get_object(request, object_id)
        if found is None:
            return self._get_obj_does_not_exist_redirect(request, self.opts, object_id)
        if not self.has_view_permission(request, found):
            raise PermissionDenied
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Backtest of %(policy)s") % {"policy": found.name},
            "opts": self.opts,
            "backtest": found,
            **_lines(found, request.GET),
        }
        return TemplateResponse(request, "admin/runs/backtest/result.html", context)

    def cancel(self, request: HttpRequest, pk: int) -> HttpResponse:
        return require_POST(self._cancel)(request, pk)

    def _cancel(self, request: HttpRequest, pk: int) -> HttpResponse:
        if not self.has_add_permission(request):
            raise PermissionDenied
        found = get_object_or_404(Backtest, pk=pk)
        if not backtests.cancel(backtest=found):
            messages.warning(request, _("It had ended already."))
        return redirect("admin:runs_backtest_change", found.pk)


def _lines(found: Backtest, query: Any) -> dict[str, Any]:
    show = query.get("show", "")
    rows = found.lines.select_related("call__run__agent", "call__run__requested_by", "call__message").order_by(
        "-call_id"
    )
    rows = rows.defer(
        "call__result", "call__result_full", "call__raw", "call__message__text", "call__message__thinking"
    )
    numbers = {Verdict.ALLOW: found.allowed, Verdict.ASK: found.asked, Verdict.DENY: found.denied}
    if show == "changed":
        rows, number = rows.exclude(verdict=F("happened")), found.changed
    elif show in Verdict.values:
        rows, number = rows.filter(verdict=show), numbers[Verdict(show)]
    else:
        show, number = "", found.done
    pages = Counted(rows, PAGE, number=number)
    return {"show": show, "page": pages.get_page(query.get("page"))}


class Counted(Paginator):
    """Pages of so many rows as are known without counting them."""

    def __init__(self, rows: Any, per_page: int, *, number: int) -> None:
        super().__init__(rows, per_page)
        self.number = number

    @property
    def count(self) -> int:
        return self.number
