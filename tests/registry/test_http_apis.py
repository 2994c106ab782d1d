"""HTTP APIs in the admin: an address, credentials, and documents that are taken in and compared."""

import json

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from agentweb.registry import catalog, http_apis, source_values
from agentweb.registry.models import HttpApi, Tool
from tests.registry.pages import errors, page

API = {"name": "Library", "enabled": "on", "url": "https://library.test/v1"}
BOOK = {"operationId": "book", "parameters": [{"name": "id", "in": "path", "required": True, "schema": {}}]}


def document(**paths) -> str:
    found = {"/books": {"get": {"operationId": "list"}, "post": {"operationId": "add"}}, "/books/{id}": {"get": BOOK}}
    security = {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}
    info = {"title": "Library", "version": "1"}
    paths = {path: item for path, item in {**found, **paths}.items() if item}
    return json.dumps({"openapi": "3.1.0", "info": info, "paths": paths, "components": {"securitySchemes": security}})


@pytest.fixture
def api(site) -> HttpApi:
    assert site.post(page("httpapi_add"), {**API, "values": '{"header X-Key": "key-of-ours"}'}).status_code == 302
    return HttpApi.objects.get(name="Library", kind="openapi")


def test_a_document_is_taken_in_from_a_file_or_as_text_and_compared_the_next_time(site, api):
    file = SimpleUploadedFile("api.json", document().encode())
    shown = site.post(page("httpapi_document", api.pk), {"file": file})
    assert shown.context["report"].new == ["GET /books", "POST /books", "GET /books/{id}"]
    assert list(api.tools.order_by("name").values_list("name", "risk", "state")) == [
        ("add", "high", "draft"),
        ("book", "medium", "draft"),
        ("list", "medium", "draft"),
    ]
    api.tools.update(state=Tool.State.ACTIVE)
    changed = document(**{"/books": {"get": {"operationId": "list", "summary": "All books"}}, "/new": {"get": {}}})
    report = site.post(page("httpapi_document", api.pk), {"text": changed}).context["report"]
    assert (report.held, report.gone, report.new) == (["GET /books"], ["POST /books"], ["GET /new"])
    held = api.tools.get(true_name="GET /books")
    assert held.state == "held" and "All books" in site.get(page("tool_definition", held.pk)).content.decode()


def test_a_tool_is_found_with_the_address_and_the_credentials(api):
    http_apis.take_in(api, document())
    tool = catalog.find_one("book")
    assert tool.preview({"id": "7"}, None).effect == "Sends GET to https://library.test/v1/books/7 (Library)."
    assert source_values.of(api) == {"header X-Key": "key-of-ours"}


def test_words_choose_what_is_taken_in_and_what_is_there_is_still_compared(site, api):
    http_apis.take_in(api, document())
    site.post(page("httpapi_change", api.pk), {**API, "only": "new", "values": "{}"})
    api.refresh_from_db()
    report = http_apis.take_in(api, document(**{"/new": {"get": {}}, "/other": {"get": {}}}))
    read = report.report
    assert (read.new, len(read.same), read.gone) == (["GET /new"], 3, [])
    assert report.wants == ["header X-Key"] and report.title == "Library 1"


def test_a_document_with_very_many_operations_is_not_taken_in_whole(site, api):
    many = document(**{f"/x{number}": {"get": {}} for number in range(300)})
    shown = site.post(page("httpapi_document", api.pk), {"text": many})
    assert "303 operations" in shown.context["problem"] and not api.tools.exists()


@pytest.mark.parametrize("posted", [{}, {"text": "x", "file": b"x"}, {"file": b"\xff\xfe"}])
def test_a_form_without_one_document_is_refused(site, api, posted):
    named = {name: SimpleUploadedFile("a", value) if name == "file" else value for name, value in posted.items()}
    assert site.post(page("httpapi_document", api.pk), named).context["form"].non_field_errors()


def test_what_is_no_document_says_why_on_the_page(site, api):
    assert "no paths" in site.post(page("httpapi_document", api.pk), {"text": "openapi: 3.0.0"}).content.decode()


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"url": ""}, "url"),
        ({"url": "https://ann:pw@library.test"}, "url"),
        ({"url": "https://library.test?x=1"}, "url"),
        ({"values": '{"cookie a": "x"}'}, "values"),
        ({"values": '{"header Host": "x"}'}, "values"),
        ({"values": '{"bearer": "a\\nb"}'}, "values"),
    ],
)
def test_what_cannot_work_is_refused(site, fields, field):
    assert list(errors(site.post(page("httpapi_add"), {**API, **fields}))) == [field]
