"""What the site really serves, written as the table writes it."""

import re
from collections.abc import Iterator

from django.urls import URLPattern, URLResolver, get_resolver

from agentweb.api.urls import api
from agentweb.chat.routing import websocket_urlpatterns

# How the site's own placeholders are called in the table, by the part of the address before them.
OWNERS = {
    "c": "conversation",
    "questions": "question",
    "conversations": "conversation",
    "runs": "run",
    "approvals": "approval",
    "calls": "call",
    "grants": "grant",
    "together": "tool",
    "halts": "halt",
    "answers": "token",
}
NAMES = {
    "queue": "queued",
    "message": "message",
    "call": "call",
    "run": "run",
    "question": "question",
    "files": "path",
    "requests": "request",
} | OWNERS
CATCH_ALL = "api/v1/^.*$"
DOCS = {"api/v1/docs", "api/v1/openapi.json"}


def page_routes() -> set[str]:
    """Every route outside the API and the admin."""
    return {route for route in _all(get_resolver().url_patterns) if not route.startswith(("api/", "admin/"))}


def admin_names() -> set[str]:
    return {name for route, name in _named(get_resolver().url_patterns) if route.startswith("admin/") and name}


def api_routes() -> set[tuple[str, str]]:
    """(route, method) of every operation, and of the pages that describe them."""
    found = {(route, "GET") for route in _all(get_resolver().url_patterns) if route.startswith("api/v1/health")}
    found |= {(route, "GET") for route in DOCS}
    for prefix, router in api._routers:
        for path, view in router.path_operations.items():
            for operation in view.operations:
                route = plain("api/v1" + (prefix + path if prefix else path))
                found |= {(route, method) for method in operation.methods}
    return found


def socket_routes() -> set[str]:
    return {plain(str(pattern.pattern)) for pattern in websocket_urlpatterns}


def plain(route: str) -> str:
    """``c/<uuid:public_id>/`` and ``/c/{conversation_id}/`` become ``c/<conversation>/``."""
    parts = re.sub(r"\{(?:\w+:)?(\w+)\}", r"<\1>", route).split("/")
    for place, part in enumerate(parts):
        if part.startswith("<") and place:
            parts[place] = f"<{NAMES.get(parts[place - 1], parts[place - 1])}>"
    return "/".join(parts)


def _all(patterns: list, prefix: str = "") -> Iterator[str]:
    for route, _name in _named(patterns, prefix):
        yield plain(route)


def _named(patterns: list, prefix: str = "") -> Iterator[tuple[str, str | None]]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _named(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern):
            yield route, pattern.name
