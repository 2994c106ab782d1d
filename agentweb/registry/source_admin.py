"""MCP servers in the admin: how each is reached, how it stands, and a click that takes in what it offers."""

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path, reverse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.debug import sensitive_post_parameters

from agentweb.registry import mcp_servers
from agentweb.registry.models import Tool, ToolSource
from agentweb.registry.secrets import SecretUnreadable
from agentweb.registry.source_forms import McpServerForm
from agentweb.registry.source_models import McpServer
from agentweb.registry.taking_in import TakenIn


class SourceAdmin(admin.ModelAdmin):
    """What all kinds of sources show."""

    KINDS: tuple[str, ...] = ()
    list_display = ["name", "address", "enabled", "state", "seen_at", "short_error", "count"]
    list_filter = ["state", "enabled"]
    search_fields = ["name", "url", "command"]
    readonly_fields = ["state", "seen_at", "failed_at", "last_error"]

    def get_queryset(self, request: HttpRequest) -> QuerySet[ToolSource]:
        found: QuerySet[ToolSource] = super().get_queryset(request)
        return found.filter(kind__in=self.KINDS).defer("document").annotate(number=Count("tools"))

    @admin.display(description=_("reached by"))
    def address(self, source: ToolSource) -> str:
        return source.url or " ".join([source.command, *source.arguments])[:80]

    @admin.display(description=_("last error"))
    def short_error(self, source: ToolSource) -> str:
        return source.last_error[:100] or "–"

    @admin.display(description=_("tools"))
    def count(self, source: Any) -> int:
        return int(source.number)

    @method_decorator(sensitive_post_parameters("values"))
    def changeform_view(self, *args: Any, **kwargs: Any) -> Any:
        return super().changeform_view(*args, **kwargs)

    def source(self, request: HttpRequest, pk: int) -> ToolSource:
        """The source, for whoever may change it and may add tools by that."""
        found = get_object_or_404(ToolSource, pk=pk, kind__in=self.KINDS)
        if not self.has_change_permission(request, found):
            raise PermissionDenied
        return found

    def page(self, request: HttpRequest, template: str, title: str, source: ToolSource, **more: Any) -> HttpResponse:
        tools = f"{reverse('admin:registry_tool_changelist')}?source__id__exact={source.pk}"
        names = {"title": title, "opts": self.opts, "original": source, "tools": tools}
        return TemplateResponse(request, template, {**self.admin_site.each_context(request), **names, **more})


@admin.register(McpServer)
class McpServerAdmin(SourceAdmin):
    """Each runs once in every worker that uses it, from its first call on."""

    KINDS = (ToolSource.Kind.MCP_STDIO, ToolSource.Kind.MCP_HTTP)
    form = McpServerForm
    fieldsets = [
        (None, {"fields": ["name", "kind", "enabled"]}),
        (_("Started here"), {"fields": ["command", "arguments", "folder", "environment"]}),
        (_("At an address"), {"fields": ["url"]}),
        (_("Variables or headers"), {"fields": ["values"]}),
        (_("How it stands"), {"fields": ["state", "seen_at", "failed_at", "last_error"]}),
    ]

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [path("<int:pk>/look/", view(self.look), name="registry_mcpserver_look"), *super().get_urls()]

    def look(self, request: HttpRequest, pk: int) -> HttpResponse:
        """What a look would do, and after the click what came of it. Nothing is started or sent before."""
        server = self.source(request, pk)
        report, problem = None, ""
        if request.method == "POST":
            try:
                report = mcp_servers.look_and_take_in(server)
                self.log_change(request, server, f"Took in {len(report.new)} tools")
            except (mcp_servers.Refused, SecretUnreadable) as error:
                problem = str(error)
        title = gettext("Test %(name)s and take in its tools") % {"name": server.name}
        more = {"report": report, "lines": lines_of(report) if report else (), "problem": problem}
        return self.page(request, "admin/registry/mcpserver/look.html", title, server, **more)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if not Tool.objects.filter(source=obj.pk).exists():
            messages.info(request, _("Its tools are not taken in yet: test it, and choose."))


def lines_of(report: TakenIn) -> list[tuple[str, str]]:
    """What came of taking in, as sentences with the names that they are about."""
    says = (
        (_("New drafts, for you to release:"), report.new),
        (_("Drafts that follow what their source says now:"), report.changed),
        (_("On hold, since they are defined in another way now:"), report.held),
        (_("Not offered any more, so on hold:"), report.gone),
        (_("Again as they were taken in, so no longer on hold:"), report.back),
        (_("As they were:"), report.same),
    )
    return [(str(words), ", ".join(names)) for words, names in says if names]
