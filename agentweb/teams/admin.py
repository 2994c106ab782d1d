"""People, teams and tokens in the admin."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.contrib.admin.models import LogEntry
from django.contrib.auth.admin import UserAdmin
from django.db.models import Count, QuerySet
from django.forms.models import InlineForeignKeyField
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from agentweb.teams import tokens
from agentweb.teams.models import ApiToken, Membership, Team, User


class MembershipForm(forms.ModelForm):
    """A row below a team or a person. Django leaves constraints that span the parent to the database, so the second
    membership of a person in a team is refused here."""

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or self.cleaned_data
        team, user = cleaned.get("team"), cleaned.get("user")
        if team and user and team.pk and user.pk:
            others = Membership.objects.filter(team=team, user=user).exclude(pk=self.instance.pk)
            if others.exists():
                chosen = "user" if isinstance(self.fields["team"], InlineForeignKeyField) else "team"
                self.add_error(chosen, _("This person is in this team already."))
        return cleaned


class TeamsInline(admin.TabularInline):
    """The teams of a person."""

    model = Membership
    form = MembershipForm
    extra = 0
    autocomplete_fields = ["team"]
    fields = ["team", "role"]


class PeopleInline(admin.TabularInline):
    """The people of a team, found by search: there may be many."""

    model = Membership
    form = MembershipForm
    extra = 0
    autocomplete_fields = ["user"]
    fields = ["user", "role"]


@admin.register(LogEntry)
class ChangeAdmin(admin.ModelAdmin):
    """Who changed what in the admin. Written by the admin itself, and by nobody else."""

    list_display = ["action_time", "user", "action_flag", "content_type", "object_repr", "changed"]
    list_display_links = None
    list_filter = ["action_flag", "content_type"]
    list_select_related = ["user", "content_type"]
    search_fields = ["object_repr", "user__username", "object_id"]
    date_hierarchy = "action_time"
    show_full_result_count = False
    actions = None

    @admin.display(description=LogEntry._meta.get_field("change_message").verbose_name)
    def changed(self, entry: LogEntry) -> str:
        return entry.get_change_message()

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: LogEntry | None = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: LogEntry | None = None) -> bool:
        return False


@admin.register(User)
class PersonAdmin(UserAdmin):
    list_display = ["username", "email", "first_name", "last_name", "is_active", "is_staff", "last_login"]
    list_filter = ["is_active", "is_staff", "is_superuser", "memberships__team"]
    inlines = [TeamsInline]

    def get_inlines(self, request: HttpRequest, obj: User | None) -> list[Any]:
        """Teams are given to a person who exists."""
        return self.inlines if obj else []


@admin.register(Team)
class TeamAdmin(admin.ModelAdmin):
    list_display = ["name", "people", "created_at"]
    list_filter = ["created_at"]
    search_fields = ["name", "memberships__user__username"]
    fields = ["name"]
    inlines = [PeopleInline]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Team]:
        return super().get_queryset(request).annotate(number_of_people=Count("memberships"))

    @admin.display(description=_("people"), ordering="number_of_people")
    def people(self, team: Any) -> int:
        return team.number_of_people


@admin.register(ApiToken)
class ApiTokenAdmin(admin.ModelAdmin):
    """A token is shown once, on the answer that makes it; afterwards it can only be revoked."""

    list_display = ["name", "user", "shown_hint", "created_at", "used_at", "revoked_at"]
    list_filter = [("revoked_at", admin.EmptyFieldListFilter)]
    list_select_related = ["user"]
    search_fields = ["name", "user__username"]
    autocomplete_fields = ["user"]
    ordering = ["-pk"]
    actions = ["revoke"]
    fields = ["user", "name"]

    @admin.display(description=_("last characters"))
    def shown_hint(self, token: ApiToken) -> str:
        return f"…{token.hint}"

    def has_change_permission(self, request: HttpRequest, obj: ApiToken | None = None) -> bool:
        return False

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return super().has_change_permission(request)

    def get_fields(self, request: HttpRequest, obj: ApiToken | None = None) -> list[str]:
        return ["user", "name", "shown_hint", "created_at", "used_at", "revoked_at"] if obj else ["user", "name"]

    def get_readonly_fields(self, request: HttpRequest, obj: ApiToken | None = None) -> list[str]:
        return self.get_fields(request, obj) if obj else []

    def save_model(self, request: HttpRequest, obj: ApiToken, form: forms.ModelForm, change: bool) -> None:
        request.issued_token = tokens.issue(obj)

    def response_add(self, request: HttpRequest, obj: ApiToken, post_url_continue: str | None = None) -> HttpResponse:
        """Show the token here and now: a redirect would have to put it into a cookie."""
        context = self.admin_site.each_context(request) | {
            "title": _("The new token"),
            "opts": self.opts,
            "token": request.issued_token,
            "row": obj,
        }
        response = TemplateResponse(request, "admin/teams/apitoken/issued.html", context)
        return response

    @admin.action(description=_("Revoke selected tokens"), permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiToken]) -> None:
        for token in queryset.filter(revoked_at=None):
            self.log_change(request, token, str(_("Revoked.")))
        count = tokens.revoke(queryset)
        words = ngettext("%(count)d token is revoked.", "%(count)d tokens are revoked.", count) % {"count": count}
        messages.success(request, words)
