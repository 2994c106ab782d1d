"""The web is searched with what the site has set up; each way in which that can fail has its own sentence."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentweb.engine.outside import Hit
from agentweb.engine.ports import Output, ToolError
from agentweb.toolbox.addresses import Allowed
from agentweb.toolbox.guarded_http import GuardedHttp
from agentweb.toolbox.searching import DuckDuckGoSearch, SearxngSearch
from agentweb.toolbox.web_search import web_search
from tests.toolbox.calling import context_in, run, steps_of
from tests.toolbox.web_server import WebServer, page_of, serving

QUERY = {"query": "  cats &\n dogs ", "most": 2}
PATH = "/search?q=cats+%26+dogs&format=json"
FOUND = [{"title": f"Page {n}", "url": f"https://{n}.example/", "content": f" about\n{n}\u200b"} for n in range(9)]


async def searched(folder: Path, answer: bytes) -> tuple[str, WebServer]:
    async with serving({PATH: answer}) as server:
        search = SearxngSearch(GuardedHttp(Allowed.read(["127.0.0.1"])), f"http://127.0.0.1:{server.port}/")
        (output,) = await steps_of(web_search, QUERY, replace(context_in(folder), search=search))
        assert isinstance(output, Output)
        return output.content, server


async def test_a_search_server_is_asked_and_its_best_results_are_told(tmp_path: Path) -> None:
    text, server = await searched(tmp_path, page_of(json.dumps({"results": FOUND}), "application/json"))
    assert text.startswith("1. Page 0\n   https://0.example/\n   about 0<U+200B>\n\n2. Page 1\n   https://1.example/")
    assert "3." not in text and server.paths == [PATH]


async def test_nothing_found_is_an_answer(tmp_path: Path) -> None:
    text, _server = await searched(tmp_path, page_of('{"results": []}'))
    assert text == "Nothing was found. Try other words."


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (page_of("", status="403 Forbidden"), "refuses to answer in JSON"),
        (page_of("", status="429 Too Many"), "answered with 429"),
        (page_of("<html>"), "something else than results"),
        (page_of("[]"), "something else than results"),
        (page_of('{"results": [1]}'), "something else than results"),
        (page_of("", status="302 Found", Location="http://169.254.169.254/"), "answered with 302"),
    ],
)
async def test_each_failure_of_a_search_server_is_told(tmp_path: Path, answer: bytes, words: str) -> None:
    with pytest.raises(ToolError, match=words):
        await searched(tmp_path, answer)


class Duck:
    """Stands in for the client of the package."""

    def __init__(self, found: list[dict[str, str]] | Exception) -> None:
        self._found = found

    def text(self, query: str, **options: Any) -> Sequence[dict[str, str]]:
        if isinstance(self._found, Exception):
            raise self._found
        return self._found


async def test_duckduckgo_answers_in_its_own_words() -> None:
    found = [{"title": "A", "href": "https://a.example", "body": "b"}]
    assert await DuckDuckGoSearch(Duck(found)).find("x", 3) == [Hit("A", "https://a.example", "b")]
    assert await DuckDuckGoSearch(Duck(RuntimeError("No results found."))).find("x", 3) == []
    with pytest.raises(ToolError, match=r"could not be asked \(RuntimeError\)"):
        await DuckDuckGoSearch(Duck(RuntimeError("202 Ratelimit"))).find("x", 3)


def test_without_a_search_it_says_so_and_an_empty_query_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ToolError, match="No web search is set up"):
        run(web_search, QUERY, context_in(tmp_path))
    for arguments, start in (({"query": " "}, "query: "), ({"query": "x", "most": 21}, "most: ")):
        (found,) = web_search.problems(arguments)
        assert found.startswith(start)
