"""What the tools of this site get from outside, as the settings allow it."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from pathlib import Path

from django.conf import settings
from django.utils.translation import gettext as _

from agentweb.engine.outside import Http, HttpAnswer, HttpRequest
from agentweb.engine.ports import ToolContext
from agentweb.toolbox import sandbox
from agentweb.toolbox.addresses import Allowed
from agentweb.toolbox.needs import Need


def context(call: str, workspace: Path, cancelled: Callable[[], bool] = lambda: False) -> ToolContext:
    return ToolContext(call, workspace, lambda: datetime.now(UTC), cancelled, http=SiteHttp())


def lacking(tool: object) -> str:
    """Why the tool cannot be used on this site, as a sentence; empty where it can."""
    match getattr(tool, "needs", Need.NONE):
        case Need.SANDBOX if why := sandbox.unusable():
            return _("There is no sandbox for programs here: %(why)s") % {"why": why}
    return ""


class SiteHttp:
    """The guarded client, with the inner servers of the settings. Its library is loaded with the first request."""

    async def send(self, request: HttpRequest) -> HttpAnswer:
        return await _client(tuple(settings.INNER_SERVERS)).send(request)


@cache
def _client(inner: tuple[str, ...]) -> Http:
    client: Http = import_module("agentweb.toolbox.guarded_http").GuardedHttp(Allowed.read(inner))
    return client
