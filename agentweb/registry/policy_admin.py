"""Policies in the admin: their rules, every version that ever counted, and what would become of one call."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.html import format_html_join
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from agentweb.policy.asking import has_terms, own_terms
from agentweb.policy.matching import speaks_of
from agentweb.policy.rules import Rule
from agentweb.policy.terms_words import told
from agentweb.policy.words import line
from agentweb.registry import drafts, services
from agentweb.registry.draft_admin import Drafting
from agentweb.registry.models import Policy, PolicyRule, PolicyVersion, Tool
from agentweb.registry.policies import rules_in
from agentweb.registry.policy_forms import RuleForm, SimulationForm
from agentweb.registry.simulating import Question, simulate


class RuleInline(admin.StackedInline):
    model = PolicyRule
    form = RuleForm
    extra = 0
    ordering = ["position", "pk"]
    autocomplete_fields = ["agent", "team", "user", "by_group", "people", "later_group", "later_people"]
    fieldsets = [
        (
            None,
            {
                "fields": [
                    ("position", "name"),
                    ("tool", "risk"),
                    ("verdict", "raise_to"),
                    ("requires_comment", "reason"),
                ]
            },
        ),
        (_("When people are asked"), {"fields": [("wait_minutes", "needed"), "apart"]}),
        (
            _("Who may decide"),
            {
                "fields": [("by_requester", "by_role", "by_group"), "people"],
                "description": _("Everybody whom one of these means. Nothing chosen: whoever may write there."),
            },
        ),
        (
            _("When nobody has decided"),
            {
                "fields": [("later_minutes", "later_role", "later_group"), "later_people"],
                "description": _("From then on these may decide as well."),
            },
        ),
        (_("Only for"), {"fields": [("agent", "team"), ("user", "role"), ("tainted", "attended")]}),
        (_("Only with these arguments"), {"fields": [("argument", "test", "value"), "condition"]}),
    ]


@admin.register(Policy)
class PolicyAdmin(Drafting):
    """What is saved counts from the next call on."""

    list_display = ["name", "version", "enabled", "rule_count", "updated_at"]
    list_filter = ["enabled"]
    search_fields = ["name", "rules__tool", "rules__name"]
    readonly_fields = ["version"]
    fields = ["name", "enabled", "version"]
    inlines = [RuleInline]

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        more = [
            path("simulate/", view(self.simulate), name="registry_policy_simulate"),
            path("why/", view(self.why), name="registry_policy_why"),
            path("draft/", view(self.draft), name="registry_policy_draft"),
        ]
        return [*more, *super().get_urls()]

    def get_queryset(self, request: HttpRequest) -> models.QuerySet[Policy]:
        return super().get_queryset(request).annotate(number_of_rules=models.Count("rules"))

    def has_delete_permission(self, request: HttpRequest, obj: Policy | None = None) -> bool:
        """Its versions are named in the record, and another policy of that name would begin with version 1 again."""
        return False

    @admin.display(description=_("rules"), ordering="number_of_rules")
    def rule_count(self, policy: Any) -> int:
        return policy.number_of_rules

    def save_model(self, request: HttpRequest, obj: Policy, form: forms.ModelForm, change: bool) -> None:
        """The version is not written from here: it only ever grows, in the database."""
        if change:
            obj.save(update_fields=["name", "enabled"])
        else:
            obj.save()

    def save_related(self, request: HttpRequest, form: forms.ModelForm, formsets: list[Any], change: bool) -> None:
        super().save_related(request, form, formsets, change)
        if not change:
            services.enact(policy=form.instance, by=request.user)
        elif form.has_changed() or any(formset.has_changed() for formset in formsets):
            services.policy_changed(policy=form.instance, by=request.user)
        for pattern in _without_tools(form.instance):
            words = _("The rule for %(pattern)s speaks of no tool that exists.") % {"pattern": pattern}
            messages.warning(request, words)

    def simulate(self, request: HttpRequest) -> HttpResponse:
        """What would become of one call. With POST, since arguments do not belong into addresses."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        draft = drafts.kept(request.session)
        form = SimulationForm(request.POST or None, initial=request.GET.dict(), draft=draft)
        found = simulate(_question(form, draft)) if form.is_valid() else None
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("What would become of a call"),
            "opts": self.opts,
            "form": form,
            "found": found,
        }
        return TemplateResponse(request, "admin/registry/policy/simulate.html", context)


def _question(form: SimulationForm, draft: drafts.Draft | None) -> Question:
    said = dict(form.cleaned_data)
    by = draft if said.pop("draft", False) else None
    return Question(attended=not said.pop("unattended"), draft=by, **said)


def _without_tools(policy: Policy) -> list[str]:
    """The patterns of the policy that match no tool: most often a name is misspelt."""
    names = list(Tool.objects.values_list("name", flat=True))
    patterns = policy.rules.values_list("tool", flat=True)
    return [pattern for pattern in patterns if not any(speaks_of(pattern, name) for name in names)]


def _in_words(rule: Rule) -> str:
    words = line(rule, gettext)
    return f"{words}: {told(own_terms(rule), gettext)}" if has_terms(rule) else words


@admin.register(PolicyVersion)
class PolicyVersionAdmin(admin.ModelAdmin):
    """What counted from when, by whom. Written with every change, and never changed itself."""

    list_display = ["name", "version", "enabled", "created_at", "by"]
    list_filter = ["name"]
    list_select_related = ["by"]
    search_fields = ["name", "rules"]
    actions = None
    fields = ["name", "version", "enabled", "created_at", "by", "in_words", "rules", "digest"]
    readonly_fields: list[Any] = fields

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: PolicyVersion | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: PolicyVersion | None = None) -> bool:
        return False

    @admin.display(description=_("what it says"))
    def in_words(self, version: PolicyVersion) -> SafeString | str:
        try:
            return format_html_join("", "<p>{}</p>", ((_in_words(rule),) for rule in rules_in(version))) or "–"
        except ValueError:
            return gettext("the rule cannot be read")
