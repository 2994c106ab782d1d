"""MCP servers as admins set them up: how each is reached, how it stands, and a look at what it offers."""

import asyncio
import logging
from importlib import import_module
from threading import BoundedSemaphore
from typing import Any

from django.db import connection
from django.utils import timezone
from django.utils.translation import gettext as _

from agentweb.registry import source_values, taking_in
from agentweb.registry.models import Tool, ToolSource
from agentweb.toolbox.definitions import Offer
from agentweb.toolbox.mcp.late import LateCaller
from agentweb.toolbox.mcp.server import McpServer
from agentweb.toolbox.outside import Caller

logger = logging.getLogger(__name__)
PLACES = BoundedSemaphore(4)  # looks in one process, since each holds one of its threads


class Refused(Exception):
    """The look was not made; says why."""


def server_of(source: ToolSource) -> McpServer:
    """Raises SecretUnreadable."""
    return McpServer(
        key=str(source.pk),
        name=source.name,
        url=source.url if source.kind == ToolSource.Kind.MCP_HTTP else "",
        command=source.command,
        arguments=tuple(source.arguments),
        folder=source.folder,
        inherited=tuple(source.environment),
        values=source_values.of(source),
    )


def caller(tool: Tool) -> Caller:
    """What calls the tool of an MCP server. Raises SecretUnreadable."""
    assert tool.source is not None
    return LateCaller(server_of(tool.source), tool.timeout_s, Books(tool.source.pk))


class Books:
    """Keeps in the row how the server stands, and sees to it that its tools stay what they were."""

    def __init__(self, source: int) -> None:
        self._source = source

    def seen(self, offers: tuple[Offer, ...]) -> None:
        self._write(lambda source: answered(source, offers))

    def failed(self, why: str) -> None:
        self._write(lambda source: failed(source, why))

    def _write(self, what: Any) -> None:
        """Nothing depends on it at once, so a failure is only logged."""
        try:
            source = ToolSource.objects.filter(pk=self._source).first()
            if source is not None:
                what(source)
        except Exception:
            logger.exception("How the MCP server stands could not be stored.")
        finally:
            if not connection.in_atomic_block:
                connection.close()


def answered(source: ToolSource, offers: tuple[Offer, ...]) -> None:
    taking_in.look_after(source=source, offers=offers)
    ToolSource.objects.filter(pk=source.pk).update(
        state=ToolSource.State.ANSWERS, last_error="", seen_at=timezone.now()
    )


def failed(source: ToolSource, why: str) -> None:
    ToolSource.objects.filter(pk=source.pk).update(
        state=ToolSource.State.FAILS, last_error=why, failed_at=timezone.now()
    )


def look_and_take_in(source: ToolSource) -> taking_in.TakenIn:
    """Connect to the server, and take in what it offers. Takes up to half a minute; runs a loop of its own, so it is
    not to be called on one. Raises Refused, and SecretUnreadable."""
    if not PLACES.acquire(blocking=False):
        raise Refused(_("Other tests are under way. Try again in a minute."))
    try:
        offers = _offers(source)
    finally:
        PLACES.release()
    report = taking_in.take_in(source=source, offers=offers)
    answered(source, offers)
    return report


def _offers(source: ToolSource) -> tuple[Offer, ...]:
    mcp = import_module("agentweb.toolbox.mcp.caller")
    try:
        found: tuple[Offer, ...] = asyncio.run(mcp.look_at(server_of(source)))
        return found
    except mcp.ServerFailed as error:
        failed(source, str(error))
        raise Refused(str(error)) from None
