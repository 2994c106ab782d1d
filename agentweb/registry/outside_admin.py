"""Tools from outside in the admin: where each comes from, how it stands, and how it is defined."""

import json
from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect
from django.template.response import TemplateResponse
from django.urls import URLPattern, path
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_POST

from agentweb.registry import faults, taking_in
from agentweb.registry.models import Tool
from agentweb.schema.unified import unified
from agentweb.toolbox.definitions import Definition


class OutsideToolAdmin(admin.ModelAdmin):
    """What the page of tools needs for those that are not in code."""

    actions = ["release_drafts"]

    def get_urls(self) -> list[URLPattern]:
        view = self.admin_site.admin_view
        return [
            path("<int:pk>/definition/", view(self.definition), name="registry_tool_definition"),
            path("<int:pk>/agree/", view(require_POST(self.agree)), name="registry_tool_agree"),
            *super().get_urls(),
        ]

    @admin.display(description=_("comes from"), ordering="source__name")
    def origin(self, tool: Tool) -> str:
        if tool.source is not None:
            return tool.source.name
        code = faults.tools_in_code()
        return gettext("the code") if code is None or tool.name in code else gettext("missing in the code")

    @admin.display(description=_("state"), ordering="state")
    def shown_state(self, tool: Tool) -> str:
        state = tool.get_state_display()
        return f"{state}: {tool.get_held_why_display()}" if tool.held_why else state

    @admin.action(description=_("Release the chosen drafts"), permissions=["change"])
    def release_drafts(self, request: HttpRequest, queryset: QuerySet[Tool]) -> None:
        drafts = list(queryset.filter(state=Tool.State.DRAFT))
        for tool in drafts:
            taking_in.release(tool=tool, digest=tool.digest)
            self.log_change(request, tool, [{"changed": {"fields": [gettext("state")]}}])
        words = ngettext("%(count)d draft is released.", "%(count)d drafts are released.", len(drafts))
        self.message_user(request, words % {"count": len(drafts)}, messages.SUCCESS if drafts else messages.WARNING)

    def definition(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The definition that counts, and beside it what the source says now, where that differs."""
        tool = self._tool(request, pk)
        pinned = Definition.from_text(tool.definition)
        proposed = Definition.from_text(tool.proposed) if tool.proposed else None
        context = {
            **self.admin_site.each_context(request),
            "title": gettext("Definition of %(tool)s") % {"tool": tool.name},
            "opts": self.opts,
            "original": tool,
            "state": self.shown_state(tool),
            "pinned": pinned,
            "parameters": _pretty(pinned.parameters),
            "rows": unified(_told(pinned), _told(proposed)) if proposed else (),
            "agree": proposed.digest if proposed else tool.digest if tool.state == Tool.State.DRAFT else "",
        }
        return TemplateResponse(request, "admin/registry/tool/definition.html", context)

    def agree(self, request: HttpRequest, pk: int) -> HttpResponse:
        """The yes of an admin to the definition that was shown: of a draft, or of what a held tool has become."""
        tool, digest = self._tool(request, pk), request.POST.get("digest", "")
        try:
            if tool.state == Tool.State.DRAFT:
                taking_in.release(tool=tool, digest=digest)
            else:
                taking_in.accept(tool=tool, digest=digest)
        except taking_in.Outdated:
            messages.error(request, _("Nothing was changed: the tool is another by now. Look at it again."))
            return redirect("admin:registry_tool_definition", pk)
        self.log_change(request, tool, [{"changed": {"fields": [gettext("definition")]}}])
        messages.success(request, _("The tool may be used, with the definition that was shown."))
        return redirect("admin:registry_tool_change", pk)

    def _tool(self, request: HttpRequest, pk: int) -> Tool:
        tool = get_object_or_404(Tool.objects.exclude(source=None).select_related("source"), pk=pk)
        if not self.has_change_permission(request, tool):
            raise PermissionDenied
        return tool


def _told(definition: Definition) -> str:
    """All that counts of a definition, as text whose lines can be compared."""
    return "\n".join([definition.true_name, definition.description, _pretty(definition.raw)])


def _pretty(value: Any) -> str:
    return json.dumps(dict(value), indent=2, ensure_ascii=False, sort_keys=True)
