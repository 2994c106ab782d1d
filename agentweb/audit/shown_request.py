"""The body of a model request in parts that people can read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agentweb.schema.json_text import pretty

ROLES = {
    "system": gettext_lazy("System prompt"),
    "user": gettext_lazy("User"),
    "assistant": gettext_lazy("Model"),
    "tool": gettext_lazy("Tool result"),
}


@dataclass(frozen=True, slots=True)
class Part:
    """One message or one tool of the request."""

    title: str
    text: str
    json: str = ""


@dataclass(frozen=True, slots=True)
class ShownRequest:
    """``rest`` is everything but messages and tools, as JSON."""

    messages: list[Part]
    tools: list[Part]
    rest: str


def shown(body: Mapping[str, Any]) -> ShownRequest:
    rest = {name: value for name, value in body.items() if name not in ("messages", "tools")}
    return ShownRequest(
        messages=[_message(message) for message in body.get("messages", ())],
        tools=[_tool(tool) for tool in body.get("tools", ())],
        rest=pretty(rest) or "",
    )


def _message(message: Mapping[str, Any]) -> Part:
    role, content = str(message.get("role", "")), message.get("content")
    more = {name: value for name, value in message.items() if name not in ("role", "content")}
    text = content if isinstance(content, str) else pretty(content) if content is not None else ""
    return Part(str(ROLES.get(role, role)), text or "", (pretty(more) or "") if more else "")


def _tool(tool: Mapping[str, Any]) -> Part:
    function = tool.get("function", {})
    name = str(function.get("name", "")) or _("Tool")
    return Part(name, str(function.get("description", "")), pretty(function.get("parameters")) or "")
