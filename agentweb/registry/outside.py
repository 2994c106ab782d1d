"""What the tools of this site get from outside, as the settings allow it."""

from collections.abc import Callable
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from django.conf import settings
from django.utils.translation import gettext as _

from agentweb.engine.outside import Http, HttpAnswer, HttpRequest, Search
from agentweb.engine.ports import ToolContext
from agentweb.registry import answer_addresses
from agentweb.registry.mailing import SiteMailer
from agentweb.toolbox import sandbox
from agentweb.toolbox.addresses import Allowed
from agentweb.toolbox.needs import Need
from agentweb.toolbox.searching import DuckDuckGoSearch, SearxngSearch


def context(call: str, workspace: Path, cancelled: Callable[[], bool] = lambda: False) -> ToolContext:
    return ToolContext(
        call,
        workspace,
        lambda: datetime.now(UTC),
        cancelled,
        answer_at=answer_addresses.address(call),
        http=SiteHttp(tuple(settings.INNER_SERVERS)),
        search=_search(),
        mailer=SiteMailer(settings.MAIL_DOMAINS) if settings.MAIL_DOMAINS else None,
    )


def _search() -> Search | None:
    if settings.SEARXNG_URL:
        server = urlsplit(settings.SEARXNG_URL)
        place = f"[{server.hostname}]" if ":" in (server.hostname or "") else server.hostname
        inner = f"{place}:{server.port or (443 if server.scheme == 'https' else 80)}"
        return SearxngSearch(SiteHttp((inner,)), settings.SEARXNG_URL)
    return DuckDuckGoSearch() if settings.DUCKDUCKGO_SEARCH and find_spec("ddgs") else None


def lacking(tool: object) -> str:
    """Why the tool cannot be used on this site, as a sentence; empty where it can."""
    match getattr(tool, "needs", Need.NONE):
        case Need.SANDBOX if why := sandbox.unusable():
            return _("There is no sandbox for programs here: %(why)s") % {"why": why}
        case Need.SEARCH if _search() is None:
            return _("No web search is set up: set SEARXNG_URL, or install ddgs and set DUCKDUCKGO_SEARCH.")
        case Need.MAIL if not settings.MAIL_DOMAINS:
            return _("MAIL_DOMAINS does not say to whom agents may write.")
    return ""


class SiteHttp:
    """The guarded client, with the ``inner`` servers that it may reach. Its library comes with the first request."""

    def __init__(self, inner: tuple[str, ...]) -> None:
        self._inner = inner

    async def send(self, request: HttpRequest) -> HttpAnswer:
        return await _client(self._inner).send(request)


@cache
def _client(inner: tuple[str, ...]) -> Http:
    client: Http = import_module("agentweb.toolbox.guarded_http").GuardedHttp(Allowed.read(inner))
    return client
