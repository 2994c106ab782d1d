"""What the admin shows with the forms that people get: trying a tool out."""

from typing import Any

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agentweb.engine.facts import filled
from agentweb.registry import catalog
from agentweb.registry.admin import ToolAdmin
from agentweb.registry.models import Risk, Tool
from agentweb.registry.trying import try_tool
from agentweb.ui import schema_forms

HOW = {
    "ok": gettext_lazy("It worked."),
    "error": gettext_lazy("It failed; a model would be told this:"),
    "timeout": gettext_lazy("It did not end in time."),
    "suspended": gettext_lazy("It waits for something from outside:"),
}


class TriedToolAdmin(ToolAdmin):
    """Tools, each with a page that runs it once."""

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view(self.try_out)
        return [path("<int:pk>/try/", view, name="registry_tool_try"), *super().get_urls()]

    def try_out(self, request: HttpRequest, pk: int) -> HttpResponse:
        """A form made from the tool's schema, and what came of running it."""
        row = get_object_or_404(Tool, pk=pk)
        if not self.has_change_permission(request, row):
            raise PermissionDenied
        tool = catalog.find_one(row.name)
        context = {
            **self.admin_site.each_context(request),
            "title": _("Test %(tool)s") % {"tool": row.name},
            "opts": self.opts,
            "tool": row,
            "missing": tool is None,
            "must_type": row.risk == Risk.HIGH,
            "must_tick": row.risk == Risk.MEDIUM,
        }
        if tool is not None:
            context |= self._tried(request, row, tool) if request.method == "POST" else {"form": _empty(tool)}
        return TemplateResponse(request, "admin/registry/tool/try.html", context)

    def _tried(self, request: HttpRequest, row: Tool, tool: Any) -> dict[str, Any]:
        form = schema_forms.read(tool.spec.parameters, request.POST, {})
        if form.arguments is None:
            return {"form": form}
        again = {"form": schema_forms.show(tool.spec.parameters, form.arguments)}
        problems = tool.problems(form.arguments)
        if not problems and not _confirmed(row, request):
            problems = [_("Confirm first that it may really run.")]
        if problems:
            return again | {"problems": problems}
        tried = try_tool(tool, form.arguments, timeout_s=row.timeout_s)
        how = HOW[tried.kind]
        self.log_change(request, row, _("Tested in %(seconds).1f s: %(how)s") % {"how": how, "seconds": tried.seconds})
        fact = filled(row.fact, form.arguments)
        return again | {"tried": tried, "how": how, "fact": fact, "previews": row.previews}


def _empty(tool: Any) -> schema_forms.SchemaForm:
    return schema_forms.show(tool.spec.parameters, {})


def _confirmed(row: Tool, request: HttpRequest) -> bool:
    """Low risk needs nothing, medium a tick, high the name of the tool."""
    if row.risk == Risk.HIGH:
        return request.POST.get("typed", "").strip() == row.name
    return row.risk == Risk.LOW or request.POST.get("confirmed") == "yes"


admin.site.unregister(Tool)
admin.site.register(Tool, TriedToolAdmin)
