"""The registry in the admin: tools and their risk, agents, budgets; models and policies have modules of their own."""

from typing import Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from agentweb.registry.forms import GoalCheckForm, ToolForm
from agentweb.registry.http_api_admin import HttpApiAdmin
from agentweb.registry.model_admin import ChatModelAdmin
from agentweb.registry.models import Agent, Budget, GoalCheck, Tool
from agentweb.registry.outside_admin import OutsideToolAdmin
from agentweb.registry.policy_admin import PolicyAdmin, PolicyVersionAdmin
from agentweb.registry.prompt_admin import PromptAdmin
from agentweb.registry.request_admin import RequestTemplatesAdmin
from agentweb.registry.secret_admin import SecretAdmin
from agentweb.registry.source_admin import McpServerAdmin

__all__ = [
    "AgentAdmin",
    "BudgetAdmin",
    "ChatModelAdmin",
    "HttpApiAdmin",
    "McpServerAdmin",
    "PolicyAdmin",
    "PolicyVersionAdmin",
    "PromptAdmin",
    "RequestTemplatesAdmin",
    "SecretAdmin",
    "ToolAdmin",
]


@admin.register(Tool)
class ToolAdmin(OutsideToolAdmin):
    """Tools come from code or from outside; what is decided here is how they may be used. It counts from the next call
    on."""

    list_display = ["name", "label", "shown_state", "origin", "risk", "enabled", "timeout_s"]
    list_editable = ["risk", "enabled", "timeout_s"]
    list_filter = ["state", "source", "risk", "enabled", "untrusted"]
    list_select_related = ["source"]
    search_fields = ["name", "label", "true_name"]
    readonly_fields = ["name", "label", "description", "origin", "true_name", "shown_state"]
    fields = [
        "name",
        "label",
        "description",
        "origin",
        "true_name",
        "shown_state",
        "risk",
        "enabled",
        "timeout_s",
        "retries",
        "keep_s",
        "fallback",
        "fact",
        "previews",
        "untrusted",
        "outbound",
        "free_arguments",
    ]
    form = ToolForm

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Tool | None = None) -> bool:
        """A row that comes back at the next start would come with its first risk level."""
        return bool(obj and obj.source_id) and super().has_delete_permission(request, obj)

    def formfield_for_dbfield(self, db_field: models.Field, request: HttpRequest, **kwargs: Any) -> Any:
        """Each field carries what it was when the page was made: a row that nobody touched is not written, so a page
        that was open for long takes back no other admin's decision."""
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if field is not None:
            field.show_hidden_initial = True
        return field


class GoalInline(admin.StackedInline):
    model = GoalCheck
    form = GoalCheckForm
    extra = 0
    fields = ["position", "kind", "label", "path", "schema", "pattern", "function"]
    ordering = ["position", "pk"]


@admin.register(Agent)
class AgentAdmin(admin.ModelAdmin):
    list_display = ["name", "team", "model", "max_turns", "sequential", "enabled", "updated_at"]
    list_filter = ["enabled", "team", "model"]
    list_select_related = ["team", "model"]
    search_fields = ["name", "description"]
    filter_horizontal = ["tools"]
    readonly_fields = ["public_id"]
    fieldsets = [
        (None, {"fields": ["name", "description", "instructions", "prompt", "enabled"]}),
        (_("Who and with what"), {"fields": ["team", "model", "fallback_model", "cheaper_model", "tools"]}),
        (_("Limits"), {"fields": ["max_turns", "sequential", "loop_guard"]}),
        (_("Long conversations"), {"fields": ["folding", "whole_turns", "fold_at", "fold_every"]}),
        (_("For programs"), {"fields": ["public_id"]}),
    ]
    inlines = [GoalInline]


@admin.register(Budget)
class BudgetAdmin(admin.ModelAdmin):
    """It counts from the next model call on, with what was spent before."""

    list_display = ["name", "scope", "about", "period", "unit", "limit", "soft_percent", "enabled"]
    list_filter = ["enabled", "scope", "period", "unit"]
    list_select_related = ["team", "agent", "user"]
    search_fields = ["name", "team__name", "agent__name", "user__username"]
    fieldsets = [
        (None, {"fields": ["name", "enabled"]}),
        (_("Whose"), {"fields": ["scope", "team", "agent", "user"]}),
        (_("How much"), {"fields": ["period", "unit", "limit", "soft_percent", "deciders"]}),
    ]

    @admin.display(description=_("whose"))
    def about(self, budget: Budget) -> str:
        return str(budget.team or budget.agent or budget.user or "–")
