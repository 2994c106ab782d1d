"""OpenAPI documents: what is taken for one, which tools it makes, and which requests those send."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pytest

from agentweb.engine.enums import Risk
from agentweb.engine.outside import HttpAnswer, HttpRequest
from agentweb.engine.ports import ToolContext, ToolError
from agentweb.toolbox.definitions import Definition, Offer
from agentweb.toolbox.openapi.caller import ApiCaller
from agentweb.toolbox.openapi.document import BadDocument, read
from agentweb.toolbox.openapi.reading import credentials_wanted, matches, offer, operations
from tests.toolbox.calling import NOW

TEN = "x" * 10
BOMB = "a: &a0 [x, x]\n" + "".join(f"b{n}: &a{n + 1} [{','.join(f'*a{n}' for _ in TEN)}]\n" for n in range(8))
DOCUMENT = """
openapi: 3.0.3
info: {title: Library, version: 2026-01-01}
components:
  parameters:
    Page: {name: 'page[number]', in: query, schema: {type: integer, minimum: 0, exclusiveMinimum: true}}
  schemas:
    Book:
      type: object
      required: [id, title]
      properties:
        id: {type: string, readOnly: true}
        title: {type: string, nullable: true, pattern: '(a+)+$'}
        parts: {type: array, items: {$ref: '#/components/schemas/Book'}}
  securitySchemes:
    key: {type: apiKey, in: header, name: X-Key}
    login: {type: http, scheme: Basic}
    flow: {type: oauth2, flows: {}}
paths:
  /books/{id}/pages:
    parameters:
      - {name: id, in: path, required: true, schema: {type: string}}
    get:
      operationId: listPages
      tags: [reading]
      summary: Pages of a book
      parameters:
        - $ref: '#/components/parameters/Page'
        - {name: tags, in: query, schema: {type: array, items: {type: string}}}
        - {name: sort, in: query, explode: false, schema: {type: array, items: {type: string}}}
        - {name: near, in: query, style: deepObject, schema: {type: object}}
        - {name: X-Trace, in: header, schema: {type: string}}
        - {name: Authorization, in: header, required: true, schema: {type: string}}
    delete: {}
  /books:
    post:
      operationId: add.book
      requestBody:
        required: true
        content: {application/json: {schema: {$ref: '#/components/schemas/Book'}}}
  /forms:
    post:
      requestBody: {content: {application/x-www-form-urlencoded: {schema: {type: object}}}}
  /files:
    post:
      requestBody: {required: true, content: {multipart/form-data: {schema: {type: object}}}}
  /lost:
    get: {parameters: [{$ref: '#/components/parameters/None'}]}
  /elsewhere:
    get: {parameters: [{name: a, in: query, schema: {$ref: 'https://evil.test/a.json'}}]}
  /open/{hole}:
    get: {}
"""


def offers(text: str = DOCUMENT) -> dict[str, Offer]:
    document = read(text)
    return {one.true_name: offer("Library", document, one) for one in operations(document)}


def defined(true_name: str) -> Definition:
    found = offers()[true_name].definition
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "no object"),
        ("[1]", "no object"),
        ("{", "cannot be read as JSON"),
        ("a: [", "cannot be read as YAML in line"),
        ("a: !!python/object/apply:os.system [ls]", "cannot be read as YAML"),
        ("openapi: 3.0.0", "no paths"),
        ("openapi: 3.0\npaths: {/a: {}}", "does not say openapi"),
        ("openapi: 4.0.0\npaths: {/a: {}}", "does not say openapi"),
        ("swagger: '2.0'\npaths: {/a: {}}", "Swagger 2.0"),
        ("x: &x [*x]\nopenapi: 3.0.0\npaths: {/a: {}}", "too deep"),
        (
            BOMB,
            "too large",
        ),
        ("x" * 20_000_001, "longer than"),
    ],
)
def test_what_is_no_document_is_refused_with_the_reason(text, why):
    with pytest.raises(BadDocument, match=why):
        read(text)


def test_json_and_yaml_make_the_same_tools():
    assert offers(json.dumps(read(DOCUMENT))) == offers()


def test_each_operation_is_a_tool_whose_risk_follows_from_its_method():
    found = offers()
    listed, added = found["GET /books/{id}/pages"], found["POST /books"]
    assert (listed.risk, listed.definition.reads, listed.definition.name) == (Risk.MEDIUM, True, "listPages")
    assert (added.risk, added.definition.reads, added.definition.name) == (Risk.HIGH, False, "add.book")
    assert found["DELETE /books/{id}/pages"].definition.name == "delete_/books/{id}/pages"
    assert listed.definition.label == "Library: Pages of a book"


@pytest.mark.parametrize(
    ("true_name", "why"),
    [
        ("POST /files", "multipart/form-data"),
        ("GET /lost", "#/components/parameters/None leads nowhere"),
        ("GET /elsewhere", "leads out of the document"),
        ("GET /open/{hole}", "no parameter fills: hole"),
    ],
)
def test_an_operation_that_cannot_be_called_from_here_says_why(true_name, why):
    found = offers()[true_name]
    assert found.definition is None and why in found.why_not


def test_parameters_and_body_become_one_schema_with_circles_cut_and_names_that_providers_accept():
    asked = defined("GET /books/{id}/pages").parameters
    assert list(asked["properties"]) == ["id", "page_number", "tags", "sort", "near", "X-Trace"]
    assert asked["required"] == ["id"] and asked["additionalProperties"] is False
    assert asked["properties"]["page_number"] == {"type": "integer", "exclusiveMinimum": 0}
    book = defined("POST /books").parameters["properties"]["body"]
    assert book["required"] == ["title"] and "id" not in book["properties"]
    assert book["properties"]["title"] == {"type": ["string", "null"]}
    assert book["properties"]["parts"]["items"] == {"description": "Again as Book."}


def test_words_choose_operations_by_path_name_or_tag():
    chosen = {
        words: sum(matches(one, words) for one in operations(read(DOCUMENT))) for words in ("", "READING lost", "x")
    }
    assert chosen == {"": 8, "READING lost": 2, "x": 0}


def test_the_credentials_that_a_document_speaks_of_are_named_as_they_are_entered():
    assert credentials_wanted(read(DOCUMENT)) == ["header X-Key", "basic", "bearer"]


# --- requests -------------------------------------------------------------------------------------------------------


class Site:
    """A server that keeps what it was asked."""

    def __init__(self, status: int = 200, body: bytes = b"", kind: str = "application/json") -> None:
        self.asked: list[HttpRequest] = []
        self._answer = HttpAnswer(status, "https://library.test", {"content-type": kind}, body)

    async def send(self, request: HttpRequest) -> HttpAnswer:
        self.asked.append(request)
        return self._answer


def call(site: Site, true_name: str, arguments: Mapping[str, Any], folder, **credentials: str) -> str:
    context = ToolContext("call-1", folder / "workspace", lambda: NOW, lambda: False, http=site)
    caller = ApiCaller("Library", "https://library.test/v1/", 7.0, credentials)

    async def last() -> str:
        steps = [step async for step in caller.steps(defined(true_name), arguments, context)]
        return steps[-1].content

    return asyncio.run(last())


def test_arguments_go_where_the_document_says(tmp_path):
    site = Site(body=b'{"a": 1}')
    arguments = {"id": "a/b c", "page_number": 2, "tags": ["x", "y&z"], "sort": ["a", "b"], "near": {"lat": 1.5}}
    told = call(site, "GET /books/{id}/pages", {**arguments, "X-Trace": "t"}, tmp_path)
    assert told == 'HTTP 200 OK\n\n{"a": 1}'
    (asked,) = site.asked
    query = "page%5Bnumber%5D=2&tags=x&tags=y%26z&sort=a%2Cb&near%5Blat%5D=1.5"
    assert asked.url == f"https://library.test/v1/books/a%2Fb%20c/pages?{query}"
    assert (asked.method, asked.headers["X-Trace"], asked.timeout_s) == ("GET", "t", 7.0)


def test_bodies_are_json_or_forms(tmp_path):
    site = Site(status=204)
    assert call(site, "POST /books", {"body": {"title": "书"}}, tmp_path) == "HTTP 204 No Content, without a text."
    call(site, "POST /forms", {"body": {"a": [1, 2], "b": "x y"}}, tmp_path)
    assert [request.body for request in site.asked] == ['{"title": "书"}'.encode(), b"a=1&a=2&b=x+y"]
    assert site.asked[1].headers["Content-Type"] == "application/x-www-form-urlencoded"


@pytest.mark.parametrize("id", ["..", ".", " "])
def test_a_part_of_a_path_leads_nowhere_else(tmp_path, id):
    site = Site()
    with pytest.raises(ToolError, match="another address"):
        call(site, "GET /books/{id}/pages", {"id": id}, tmp_path)
    assert site.asked == []


def test_a_header_holds_no_line_break(tmp_path):
    with pytest.raises(ToolError, match="visible ASCII"):
        call(Site(), "GET /books/{id}/pages", {"id": "1", "X-Trace": "a\r\nb"}, tmp_path)


SECRETS = {"bearer": "token-12345", "query key": "query-12345", "header X-Key": "header-12345"}


def test_credentials_are_added_where_they_belong_and_taken_out_of_what_comes_back(tmp_path):
    site = Site(body=b"token-12345 query-12345 header-12345")
    told = call(site, "GET /books/{id}/pages", {"id": "1"}, tmp_path, **SECRETS)
    assert told == "HTTP 200 OK\n\n" + " ".join(["[secret removed]"] * 3)
    (asked,) = site.asked
    assert asked.url.endswith("/pages?key=query-12345") and asked.redirects == 0
    assert (asked.headers["Authorization"], asked.headers["X-Key"]) == ("Bearer token-12345", "header-12345")
    effect = ApiCaller("Library", "https://library.test", 7.0, SECRETS).effect(defined("POST /books"), {})
    assert effect == "Sends POST to https://library.test/books (Library)."
    call(site, "POST /books", {"body": {}}, tmp_path, basic="ann:secret")
    assert site.asked[1].headers["Authorization"] == "Basic YW5uOnNlY3JldA=="


def test_an_error_of_the_server_is_one_with_its_status_and_words(tmp_path):
    with pytest.raises(ToolError, match=r"^Library answered with HTTP 404 Not Found\. no such book$"):
        call(Site(404, b"no such book", "text/plain"), "GET /books/{id}/pages", {"id": "1"}, tmp_path)
    with pytest.raises(ToolError, match=r"^Library answered with HTTP 599\.$"):
        call(Site(599), "GET /books/{id}/pages", {"id": "1"}, tmp_path)


def test_what_is_no_text_becomes_a_file(tmp_path):
    told = call(Site(body=b"%PDF", kind="application/pdf"), "GET /books/{id}/pages", {"id": "1"}, tmp_path)
    assert told == "HTTP 200 OK\n\n[File kept as received/call1-1.pdf (application/pdf, 4 B).]"
    assert (tmp_path / "workspace/received/call1-1.pdf").read_bytes() == b"%PDF"
