"""Whatever is sent, the answer is a problem document that names the fault, and never a 500."""

import pytest
from django.test import Client

from tests.api.calling import Api, answered

pytestmark = pytest.mark.django_db
NOBODY = "00000000-0000-4000-8000-000000000000"
DEEP = b'{"text": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"


@pytest.fixture
def api(cast) -> Api:
    return Api(cast.owner)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"", 422),
        (b"{", 400),
        (b"\xff\xfe{}", 400),
        (DEEP, 400),
        (b'{"text": NaN}', 400),
        (b"[]", 422),
        (b"null", 422),
        (b'"text"', 422),
        (b"{}", 422),
        (b'{"text": null}', 422),
        (b'{"text": 5}', 422),
        (b'{"text": ["a"]}', 422),
        (b'{"text": ""}', 422),
        (b'{"text": "  "}', 422),
        (b'{"text": "\\u0000"}', 422),
        (b'{"text": "a", "delivery": "soon"}', 422),
        (b'{"text": "a", "delivry": "auto"}', 422),
        (b'{"text": "' + b"x" * 100_001 + b'"}', 422),
        (b'{"text": "' + b"x" * 7_000_000 + b'"}', 413),
        (b'{"text": "\\ud800 \\u0000 fine"}', 202),
        (b'{"text": "' + b"x" * 100_000 + b'"}', 202),
    ],
    ids=lambda value: str(value[:24]) if isinstance(value, bytes) else str(value),
)
def test_the_body_of_a_message(cast, api, body, status):
    answered(api.call("POST", f"/conversations/{cast.conversation().public_id}/messages", body), status)


@pytest.mark.parametrize("name", [NOBODY, "nonsense", "0", "%00", "%ff", "..%2f", "x" * 2000, "１２"])
@pytest.mark.parametrize(
    "path", ["/conversations/{}", "/runs/{}", "/runs/{}/events", "/approvals/{}", "/runs/{}/queue"]
)
def test_an_id_that_names_nothing_is_not_found(api, path, name):
    answered(api.call("GET", path.format(name)), 404)


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("/conversations?limit=0", 422),
        ("/conversations?limit=101", 422),
        ("/conversations?limit=many", 422),
        ("/conversations?cursor=zzz", 422),
        ("/conversations?cursor=%00", 422),
        ("/conversations?cursor=cjk5OTk5OTk5OTk5OTk5OTk5OTk5OTk5", 422),
        ("/approvals?status=open", 422),
        ("/approvals?run=nonsense", 404),
        ("/approvals?status=%00", 422),
    ],
)
def test_the_query_of_a_list(api, query, status):
    answered(api.call("GET", query), status)


@pytest.mark.parametrize(
    "query", ["after=x", "after=-1", "after=1-", "wait=31", "wait=-1", "wait=x", "wait=nan", "after=%00"]
)
def test_the_query_of_the_events(cast, api, query):
    answered(api.call("GET", f"/runs/{cast.run().public_id}/events?{query}"), 422)


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nothing", 404),
        ("POST", "/nothing/at/all", 404),
        ("GET", "/", 404),
        ("DELETE", "/agents", 405),
        ("PUT", "/conversations", 405),
        ("PATCH", f"/runs/{NOBODY}", 405),
    ],
)
def test_addresses_and_methods_that_do_not_exist(api, method, path, status):
    answered(api.call(method, path), status)


@pytest.mark.parametrize("path", ["/api", "/api/", "/api/v2/agents"])
def test_addresses_beside_the_api_answer_in_the_same_form(db, path):
    answered(Client().get(path), 404)


@pytest.mark.parametrize(
    "header", [None, "Bearer nonsense", "Bearer ", "Basic YTpi", "Bearer \x80", "nonsense", "bearer aw_" + "x" * 5000]
)
@pytest.mark.parametrize(("method", "path"), [("GET", "/agents"), ("POST", "/conversations"), ("GET", "/nothing")])
def test_without_a_valid_token_every_address_answers_401(cast, header, method, path):
    api = Api()
    api.headers = {} if header is None else {"Authorization": header}
    response = api.call(method, path, {})
    answered(response, 401)
    assert response["WWW-Authenticate"] == "Bearer"


def test_a_stranger_who_posts_with_a_cookie_and_no_csrf_token_hears_401(cast):
    client = Client(enforce_csrf_checks=True)
    response = client.post("/api/v1/nothing", {}, "application/json")
    answered(response, 401)


def test_a_forged_host_gets_a_problem_document(cast):
    answered(Client().get("/api/v1/agents", headers={"Host": "evil.test"}), 400)
