"""Templates of requests: what they may say, and what a call makes of them."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentweb.engine.enums import Risk
from agentweb.engine.outside import HttpAnswer, HttpRequest
from agentweb.engine.ports import Output, ToolError
from agentweb.toolbox.outside import OutsideTool
from agentweb.toolbox.request_templates import TemplateCaller, offer, secrets_wanted
from tests.toolbox.calling import context_in, steps_of

TICKET = {
    "description": "Create a ticket.",
    "method": "POST",
    "path": "/projects/{project}/tickets",
    "query": {"notify": "{notify}", "v": "2"},
    "headers": {"X-Key": "Key {secret:KEY}"},
    "body": {"title": "[{project}] {title}", "labels": "{labels}", "deep": [{"count": "{count}"}], "fixed": 1},
    "parameters": {
        "project": {"type": "string"},
        "title": {"type": "string"},
        "labels": {"type": "array", "items": {"type": "string"}},
        "count": {"type": "integer"},
        "notify": {"type": "boolean"},
    },
    "required": ["project", "title"],
}
LOOK = {"description": "Look.", "method": "GET", "path": "/find", "query": {"q": "{q}", "key": "{secret:KEY}"}}
LOOK |= {"parameters": {"q": {"type": "string"}}}
CALLER = TemplateCaller("Tickets", "https://api.test/v1/", 30, {"KEY": "key-0123456789"})


def asked(said: dict[str, Any], **arguments: Any) -> HttpRequest:
    definition = offer("Tickets", "tool", said).definition
    assert definition is not None
    return CALLER.asked(definition, arguments)


def effect(said: dict[str, Any], **arguments: Any) -> str:
    definition = offer("Tickets", "tool", said).definition
    assert definition is not None
    return CALLER.effect(definition, arguments)


def test_arguments_and_secrets_go_to_their_places_and_what_is_not_given_leaves_none() -> None:
    made = asked(TICKET, project="a/b?", title='say "hi"\n', labels=["x"], notify=True)
    assert (made.method, made.url) == ("POST", "https://api.test/v1/projects/a%2Fb%3F/tickets?notify=true&v=2")
    assert made.headers["X-Key"] == "Key key-0123456789"
    assert made.headers["Content-Type"] == "application/json"
    assert made.body == b'{"title": "[a/b?] say \\"hi\\"\\n", "labels": ["x"], "deep": [{}], "fixed": 1}'
    assert asked(TICKET, project="p", title="t").url.endswith("/p/tickets?v=2")
    assert made.redirects == 0  # an answer may not lead what is secret elsewhere


def test_people_see_where_it_goes_without_what_is_secret() -> None:
    assert effect(LOOK, q="a&b") == (
        "Sends GET to https://api.test/v1/find?q=a%26b&key=%E2%80%A2%E2%80%A2%E2%80%A2%E2%80%A2 (Tickets)."
    )
    assert asked(LOOK, q="x").url.endswith("&key=key-0123456789")
    assert secrets_wanted([TICKET, LOOK]) == ["KEY"]


class Echo:
    """A server that answers with what it was asked, secrets and all."""

    async def send(self, request: HttpRequest) -> HttpAnswer:
        return HttpAnswer(200, request.url, {"content-type": "text/plain"}, repr(request).encode())


async def test_a_call_goes_through_the_client_of_the_site_and_its_answer_tells_no_secret(tmp_path: Path) -> None:
    definition = offer("Tickets", "tool", LOOK).definition
    assert definition is not None
    context = replace(context_in(tmp_path), http=Echo())
    (output,) = await steps_of(OutsideTool(definition, CALLER), {"q": "cats"}, context)
    assert isinstance(output, Output)
    assert "find?q=cats&key=" in output.content
    assert "key-0123456789" not in output.content + output.full


def test_a_value_cannot_bring_a_place_of_its_own() -> None:
    assert asked(LOOK, q="{secret:KEY}").url.startswith("https://api.test/v1/find?q=%7Bsecret%3AKEY%7D&")


def test_the_risk_comes_from_the_method() -> None:
    read, write = offer("T", "look", LOOK), offer("T", "ticket", TICKET)
    assert (read.risk, write.risk) == (Risk.MEDIUM, Risk.HIGH)
    assert read.definition is not None and read.definition.reads and read.definition.repeatable
    assert write.definition is not None and not write.definition.reads and not write.definition.repeatable


@pytest.mark.parametrize("project", ["", ".", "..", " "])
def test_no_argument_leads_to_another_path(project: str) -> None:
    with pytest.raises(ToolError, match="project: this would lead to another address"):
        asked(TICKET, project=project, title="t")


def test_a_header_takes_no_line_break_and_a_secret_that_is_not_entered_is_named() -> None:
    said = {"description": "x", "method": "GET", "headers": {"X-A": "{a}"}, "parameters": {"a": {"type": "string"}}}
    with pytest.raises(ToolError, match="The header X-A would hold"):
        asked(said, a="1\r\nX-B: 2")
    definition = offer("T", "look", LOOK).definition
    assert definition is not None
    with pytest.raises(ToolError, match="The secret KEY is not entered"):
        TemplateCaller("T", "https://api.test", 30).asked(definition, {"q": "x"})


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"description": " "}, "description: is missing"),
        ({"method": "get"}, "method: must be one of"),
        ({"path": "//evil.test/"}, "path: must begin with /"),
        ({"path": "x"}, "path: must begin with /"),
        ({"path": "/a?b"}, "path: must begin with /"),
        ({"path": "/{secret:KEY}", "query": {"q": "{q}"}}, "path: a secret cannot stand in it"),
        ({"path": "/{q}", "required": []}, "required: q stands in the path"),
        ({"query": {"q": "{other}"}}, "parameters: other is used and not described; parameters: q is described"),
        ({"query": []}, "query: must be an object"),
        ({"headers": {"Host": "x"}}, "headers: Host cannot be set"),
        ({"headers": {"a b": "x"}}, "headers: a b cannot be set"),
        ({"body": "x"}, "body: a GET has none"),
        ({"required": ["z"]}, "required: must be a list of parameters"),
        ({"parameters": {"q": {"type": "strange"}}}, "its parameters cannot be used: "),
        ({"url": "https://x"}, "unknown: url"),
    ],
)
def test_a_template_that_cannot_be_used_is_told_why(change: dict[str, Any], why: str) -> None:
    found = offer("T", "look", {**LOOK, **change})
    assert found.definition is None
    assert why in found.why_not


def test_what_is_no_template_is_told_as_such() -> None:
    assert offer("T", "look", "GET /").why_not == "it is no object with names and values"
