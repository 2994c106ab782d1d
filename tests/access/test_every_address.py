"""Owner, member, admin, reviewer, stranger and nobody at every page and every route of the API."""

import json
from collections.abc import Iterator

import pytest
from django.db import transaction
from django.test import Client

from agentweb.runs import workspaces
from agentweb.teams.tokens import create_token
from tests.access import routes
from tests.access.table import ALLOWED, API, HIDDEN, PAGES, ROLES, SEES, SOCKETS, Row
from tests.access.world import PATH, VISIBILITIES, World, address, make_world
from tests.cast import Cast, make_cast


class Undo(Exception):
    """Ends a transaction whose changes are not wanted."""


def expected(row: Row, visibility: str, role: str) -> set[str]:
    """The answers that are right: through, or how one is turned away."""
    if role in ALLOWED[row.needs][visibility]:
        return {"through"}
    if role == "anonymous":
        return {"sign in"}
    told = role in SEES[visibility] and row.needs not in HIDDEN
    return {"forbidden"} if told else {"not found"}


def verdict(status: int, location: str) -> str:
    if status == 401 or (status == 302 and location.startswith("/accounts/login/")):
        return "sign in"
    return {403: "forbidden", 404: "not found"}.get(
        status, "through" if status < 500 or status == 503 else f"error {status}"
    )


def ask(row: Row, world: World, cast: Cast, role: str) -> str:
    user, client, headers = cast.person(role), Client(), {}
    path = address(row.route, world)
    if path.startswith("/api/"):
        if user is not None:
            headers["Authorization"] = f"Bearer {create_token(user=user, name='t')}"
        body = json.dumps(row.body).encode() if row.body else b"{}" if row.method == "POST" else b"x"
        response = client.generic(row.method, path, body, "application/json", headers=headers)
    else:
        if user is not None:
            client.force_login(user)
        response = client.get(path) if row.method == "GET" else client.post(path, row.body)
    if response.streaming:
        assert b"".join(response.streaming_content) == b"hello"
    return verdict(response.status_code, response.get("Location", ""))


@pytest.fixture(scope="module", params=VISIBILITIES)
def scene(request, django_db_setup, django_db_blocker) -> Iterator[tuple[str, Cast, World]]:
    """One world for all rows; each request's changes are undone."""
    with django_db_blocker.unblock(), transaction.atomic():
        cast = make_cast()
        yield request.param, cast, make_world(cast, request.param)
        transaction.set_rollback(True)


@pytest.mark.django_db
@pytest.mark.parametrize("row", [*PAGES, *API], ids=str)
def test_everyone_gets_exactly_what_the_table_says(row, scene, tmp_path, settings):
    settings.WORKSPACES_DIR = tmp_path
    visibility, cast, world = scene
    answers = {}
    for role in ROLES:
        try:
            with transaction.atomic():
                workspaces.of(world.conversation).write_bytes(PATH, b"hello")
                answers[role] = ask(row, world, cast, role)
                raise Undo
        except Undo:
            pass
    wrong = {role: said for role, said in answers.items() if said not in expected(row, visibility, role)}
    assert wrong == {}


def test_every_page_is_in_the_table():
    assert routes.page_routes() == {row.route for row in PAGES}


def test_every_route_of_the_api_is_in_the_table():
    assert routes.api_routes() == {(row.route, row.method) for row in API}


def test_every_socket_is_in_the_table():
    assert routes.socket_routes() == {row.route for row in SOCKETS}
