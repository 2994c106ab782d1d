"""The record of what happened, in the admin: to be looked at and never changed.

Lists say who, when and how it went, never what was said. Opening an entry shows the words, and counts as a look."""

import json
from typing import Any

from django.contrib import admin
from django.db import models
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from agentweb.engine.codec import KINDS
from agentweb.engine.enums import Reason, ResultKind
from agentweb.runs import grants, halting, standing
from agentweb.runs.backtest_admin import BacktestAdmin
from agentweb.runs.looks import log_look
from agentweb.runs.models import (
    AccessLog,
    Approval,
    Call,
    Conversation,
    Event,
    Grant,
    Halt,
    Message,
    Run,
    Spending,
    Taint,
    TopUp,
)
from agentweb.runs.notice_admin import WebhookAdmin
from agentweb.runs.rights import rights
from agentweb.teams.access import role_in

__all__ = ["BacktestAdmin", "WebhookAdmin"]  # admins with modules of their own


class ReadOnly(admin.ModelAdmin):
    """Rows that only the product itself writes."""

    actions: list[str] | None = None
    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: models.Model | None = None) -> bool:
        return False


class Record(ReadOnly):
    """Rows that show words: ``conversation_path`` leads from a row to the conversation that they were said in."""

    conversation_path = "conversation"

    def change_view(self, request: HttpRequest, object_id: str, *args: Any, **kwargs: Any) -> HttpResponse:
        found = self.get_object(request, object_id)
        if found is not None and self.has_view_permission(request, found):
            _note_look(request.user, _follow(found, self.conversation_path))
        return super().change_view(request, object_id, *args, **kwargs)


def _follow(row: Any, path: str) -> Conversation:
    for name in filter(None, path.split("__")):
        row = getattr(row, name)
    return row


def _note_look(user: Any, conversation: Conversation) -> None:
    """The admin stands beside the gate of the pages, so it tells the owner of a look in the same way."""
    may = rights(user=user, conversation=conversation, role=role_in(user=user, team_id=conversation.team_id))
    if may is None or may.oversight:
        log_look(user=user, conversation=conversation)


class _ByCode(admin.SimpleListFilter):
    """A filter over codes that are known beforehand: looking for those in use would read the whole table."""

    codes: tuple[str, ...] = ()

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(code, code) for code in self.codes]

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> models.QuerySet[Any]:
        return queryset.filter(**{self.parameter_name: self.value()}) if self.value() else queryset


class ByReason(_ByCode):
    title, parameter_name, codes = _("reason"), "reason", tuple(Reason)


class ByResult(_ByCode):
    title, parameter_name, codes = _("result"), "result_kind", tuple(ResultKind)


class ByKind(_ByCode):
    title, parameter_name, codes = _("kind"), "kind", tuple(KINDS)


class ByTrouble(admin.SimpleListFilter):
    """Live runs that do not get on, as the start page counts them."""

    title, parameter_name = _("trouble"), "trouble"
    kinds = {
        "late": (_("queued for long"), standing.late),
        "lost": (_("worker lost"), standing.lost),
        "often": (_("begun several times"), standing.often),
        "held": (_("held for a person"), standing.held),
    }

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [(name, words) for name, (words, _which) in self.kinds.items()]

    def queryset(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> models.QuerySet[Any]:
        _words, which = self.kinds.get(self.value() or "", ("", None))
        return queryset.filter(which()) if which else queryset


@admin.register(Conversation)
class ConversationAdmin(Record):
    conversation_path = ""
    list_display = ["public_id", "team", "owner", "agent", "visibility", "active_at", "deleted_at"]
    list_filter = ["visibility", ("deleted_at", admin.EmptyFieldListFilter), "team", "agent"]
    list_select_related = ["team", "owner", "agent"]
    search_fields = ["public_id", "owner__username"]
    date_hierarchy = "active_at"


@admin.register(Run)
class RunAdmin(Record):
    list_display = ["public_id", "agent", "requested_by", "status", "outcome", "reason", "turns", "cost", "created_at"]
    list_filter = ["status", "outcome", ByReason, ByTrouble, "agent", "conversation__team"]
    list_select_related = ["agent", "requested_by"]
    search_fields = ["public_id", "conversation__public_id", "requested_by__username"]
    date_hierarchy = "created_at"
    exclude = ["snapshot"]
    readonly_fields = ["used"]

    @admin.display(description=_("what it used"))
    def used(self, run: Run) -> str:
        return json.dumps(json.loads(run.snapshot.data), indent=2, ensure_ascii=False)


@admin.register(Message)
class MessageAdmin(Record):
    list_display = ["public_id", "role", "author", "status", "turn", "created_at"]
    list_filter = ["role", "status"]
    list_select_related = ["author"]
    search_fields = ["public_id", "run__public_id", "conversation__public_id", "author__username"]
    ordering = ["-pk"]
    exclude = ["html", "html_version"]


@admin.register(Call)
class CallAdmin(Record):
    conversation_path = "run__conversation"
    list_display = ["public_id", "name", "status", "result_kind", "attempt", "seconds", "run", "finished_at"]
    list_filter = ["status", ByResult]
    list_select_related = ["run"]
    search_fields = ["public_id", "name", "run__public_id"]
    ordering = ["-pk"]


@admin.register(Approval)
class ApprovalAdmin(Record):
    conversation_path = "run__conversation"
    list_display = ["public_id", "tool", "risk", "status", "decided_by", "decided_at", "run", "created_at"]
    list_filter = ["status", "risk", "terms__stranded", "run__agent", "run__conversation__team"]
    list_select_related = ["call", "run", "decided_by"]
    search_fields = ["public_id", "call__name", "run__public_id", "decided_by__username"]
    date_hierarchy = "created_at"

    @admin.display(description=_("tool or question"), ordering="call__name")
    def tool(self, approval: Approval) -> str:
        return approval.call.name if approval.call else approval.get_question_display()


@admin.register(Grant)
class GrantAdmin(Record):
    """Remembered approvals. Revoking is all that can be done to them."""

    conversation_path = "run__conversation"
    actions = ["revoke"]
    list_display = ["tool", "scope", "agent", "given_by", "created_at", "expires_at", "ended_at", "ended_why"]
    list_filter = ["scope", ("ended_at", admin.EmptyFieldListFilter), "agent", "team"]
    list_select_related = ["agent", "given_by"]
    search_fields = ["public_id", "tool", "given_by__username", "run__public_id", "run__conversation__public_id"]
    date_hierarchy = "created_at"

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.has_perm("runs.change_grant"))

    @admin.action(description=_("Revoke the selected grants"), permissions=["revoke"])
    def revoke(self, request: HttpRequest, chosen: models.QuerySet[Grant]) -> None:
        count = grants.revoke_all(user=request.user, rows=chosen)
        words = ngettext("%(count)d grant was revoked.", "%(count)d grants were revoked.", count)
        self.message_user(request, words % {"count": count})


@admin.register(Halt)
class HaltAdmin(ReadOnly):
    """Emergency stops. They begin on a page of their own, which shows first what they would hold."""

    actions = ["lift"]
    list_display = ["__str__", "kind", "team", "reason", "by", "created_at", "ended_at", "ended_by"]
    list_filter = ["kind", ("ended_at", admin.EmptyFieldListFilter), "team"]
    list_select_related = ["agent", "team", "by", "ended_by"]
    search_fields = ["tool", "agent__name", "by__username", "reason"]
    date_hierarchy = "created_at"

    def has_lift_permission(self, request: HttpRequest) -> bool:
        return halting.may_everywhere(request.user)

    @admin.action(description=_("Let go on what was stopped"), permissions=["lift"])
    def lift(self, request: HttpRequest, chosen: models.QuerySet[Halt]) -> None:
        rows = halting.mark(request.user, list(chosen.filter(ended_at=None)))
        count = sum(halting.lift(user=request.user, halt=halt) for halt in rows)
        words = ngettext("%(count)d run goes on.", "%(count)d runs go on.", count)
        self.message_user(request, words % {"count": count})


@admin.register(Taint)
class TaintAdmin(Record):
    """What was read from sources that nobody vouches for, and who cleared it."""

    list_display = ["tool", "conversation_id", "arrived_at", "cleared_at", "cleared_by"]
    list_filter = [("cleared_at", admin.EmptyFieldListFilter)]
    list_select_related = ["cleared_by"]
    search_fields = ["tool", "run__public_id", "conversation__public_id", "cleared_by__username"]
    date_hierarchy = "started_at"


@admin.register(Event)
class EventAdmin(Record):
    conversation_path = "run__conversation"
    list_display = ["run", "number", "kind", "at"]
    list_filter = [ByKind]
    list_select_related = ["run"]
    search_fields = ["run__public_id"]
    ordering = ["-pk"]
    fields = ["run", "number", "kind", "at", "data", "payload_digest", "hash"]
    readonly_fields = ["data"]

    @admin.display(description=_("data"))
    def data(self, event: Event) -> str:
        return json.dumps(json.loads(event.payload), indent=2, ensure_ascii=False) if event.payload else "–"


@admin.register(Spending)
class SpendingAdmin(ReadOnly):
    """What budgets are held against."""

    list_display = ["month", "team", "agent", "user", "tokens", "cost", "seconds"]
    list_filter = ["team", "agent"]
    list_select_related = ["team", "agent", "user"]
    search_fields = ["user__username"]
    date_hierarchy = "month"


@admin.register(TopUp)
class TopUpAdmin(ReadOnly):
    """By how much budgets were raised, and by whom."""

    list_display = ["budget", "amount", "spent", "granted_by", "run", "created_at"]
    list_filter = ["budget"]
    list_select_related = ["budget", "run", "approval__decided_by"]
    search_fields = ["budget__name", "approval__decided_by__username"]
    date_hierarchy = "created_at"
    ordering = ["-pk"]

    @admin.display(description=_("granted by"))
    def granted_by(self, row: TopUp) -> str:
        return str(row.approval.decided_by or "–")


@admin.register(AccessLog)
class AccessLogAdmin(Record):
    """A list only: it says who looked, and has nothing more to show."""

    list_display_links = None
    list_display = ["conversation_id", "user", "at"]
    list_select_related = ["user"]
    search_fields = ["user__username", "conversation__public_id"]
    date_hierarchy = "at"
