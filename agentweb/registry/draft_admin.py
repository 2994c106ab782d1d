"""Policies explained, and tried out as their page holds them before they are saved."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.forms.formsets import all_valid
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils.translation import gettext
from django.views.decorators.http import require_POST

from agentweb.registry import drafts
from agentweb.registry.explaining import explain
from agentweb.registry.models import Policy, PolicyRule
from agentweb.registry.policy_forms import WhyForm

WAYS = {"_simulate": "admin:registry_policy_simulate", "_backtest": "admin:runs_backtest_add"}


class Drafting(admin.ModelAdmin):
    """The page of policies with ways to explain them and to try out what stands in its form. Nothing is saved."""

    def why(self, request: HttpRequest) -> HttpResponse:
        """Why somebody can use a tool, or cannot. Its address says all, so it can be passed on."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        form = WhyForm(request.GET if "user" in request.GET else None, initial=request.GET.dict())
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Why somebody can use a tool"),
            "opts": self.opts,
            "form": form,
            "found": explain(**form.cleaned_data) if form.is_valid() else None,
        }
        return TemplateResponse(request, "admin/registry/policy/why.html", context)

    def draft(self, request: HttpRequest) -> HttpResponse:
        return require_POST(self._draft)(request)

    def _draft(self, request: HttpRequest) -> HttpResponse:
        policy = self.get_object(request, request.GET.get("policy", "")) if request.GET.get("policy") else None
        if not (self.has_change_permission(request, policy) if policy else self.has_add_permission(request)):
            raise PermissionDenied
        saved = policy.name if policy else ""
        form = self.get_form(request, policy, change=policy is not None)(request.POST, instance=policy)
        formsets, _inlines = self._create_formsets(request, form.instance, change=policy is not None)
        if not all_valid(formsets) or not form.is_valid():
            return self._refused(request, policy)
        rows = [row for formset in formsets for row in _rows(formset)]
        drafts.keep(request.session, drafts.drafted(form.instance, rows, replaces=saved))
        way = next((address for name, address in WAYS.items() if name in request.POST), WAYS["_simulate"])
        return redirect(f"{reverse(way)}?draft=on")

    def _refused(self, request: HttpRequest, policy: Policy | None) -> HttpResponse:
        """The page again, with what is wrong; saving from it goes where it always goes."""
        name = "admin:registry_policy_change" if policy else "admin:registry_policy_add"
        ids = [policy.pk] if policy else []
        return self.changeform_view(request, str(policy.pk) if policy else None, form_url=reverse(name, args=ids))


def _rows(formset: Any) -> list[PolicyRule]:
    """The rules that would be there after saving, in their order."""
    gone = set(formset.deleted_forms)
    stay = [form for form in formset.forms if form not in gone and (form.instance.pk or form.has_changed())]
    rows = [form.instance for form in stay]
    return sorted(rows, key=lambda row: (row.position, row.pk or float("inf")))
