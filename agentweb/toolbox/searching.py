"""Ways to search the web: a SearXNG server, or DuckDuckGo through a package that a site may install."""

import asyncio
import json
from collections.abc import Sequence
from importlib import import_module
from typing import Any
from urllib.parse import urlencode

from agentweb.engine.outside import Hit, Http, HttpRequest
from agentweb.engine.ports import ToolError

SEARCH_S = 15
MOST_BYTES = 2_000_000


class SearxngSearch:
    """``http`` must be able to reach the server at ``address``, which may be one inside."""

    def __init__(self, http: Http, address: str) -> None:
        self._http = http
        self._address = address.rstrip("/")

    async def find(self, query: str, most: int) -> Sequence[Hit]:
        url = f"{self._address}/search?{urlencode({'q': query, 'format': 'json'})}"
        answer = await self._http.send(HttpRequest(url, most_bytes=MOST_BYTES, timeout_s=SEARCH_S, redirects=0))
        if answer.status == 403:
            raise ToolError("The search server refuses to answer in JSON: search.formats of its settings must list it.")
        if answer.status != 200:
            raise ToolError(f"The search server answered with {answer.status}. Try again later.")
        try:
            found = json.loads(answer.body)["results"]
            return [_hit(each, "url", "content") for each in found[:most]]
        except (ValueError, KeyError, TypeError, AttributeError):
            raise ToolError("The search server answered with something else than results.") from None


class DuckDuckGoSearch:
    """Without a key, and without a promise: the service may refuse who asks often."""

    def __init__(self, client: Any = None) -> None:
        self._client = client

    async def find(self, query: str, most: int) -> Sequence[Hit]:
        return await asyncio.to_thread(self._find, query, most)

    def _find(self, query: str, most: int) -> Sequence[Hit]:
        client = self._client or import_module("ddgs").DDGS(timeout=SEARCH_S)
        try:
            found = client.text(query, max_results=most, backend="duckduckgo")
        except Exception as error:  # the package has one of its own for each way to fail, also for "nothing found"
            if "No results" in str(error):
                return []
            raise ToolError(f"DuckDuckGo could not be asked ({type(error).__name__}). Try again later.") from None
        return [_hit(each, "href", "body") for each in found[:most]]


def _hit(found: Any, url: str, text: str) -> Hit:
    return Hit(*(" ".join(str(found.get(name) or "").split()) for name in ("title", url, text)))
