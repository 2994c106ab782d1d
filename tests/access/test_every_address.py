"""Owner, member, admin, reviewer, stranger and nobody at every page and every route of the API."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from django.db import transaction
from django.test import Client

from agentweb.runs import workspaces
from agentweb.teams.models import User
from agentweb.teams.tokens import create_token
from tests.access import routes
from tests.access.table import ALLOWED, API, HIDDEN, PAGES, ROLES, SEES, SOCKETS, Row
from tests.access.world import PATH, VISIBILITIES, World, address, make_world
from tests.cast import make_cast


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


@dataclass(frozen=True, slots=True)
class Scene:
    """One world for all rows. ``sessions`` and ``tokens`` of everybody, by role."""

    visibility: str
    world: World
    sessions: dict[str, str]
    tokens: dict[str, str]

    def ask(self, row: Row, role: str) -> str:
        """The verdict about one request of a browser or a program that has done nothing before."""
        client, path = Client(), address(row.route, self.world)
        if path.startswith("/api/"):
            headers = {"Authorization": f"Bearer {self.tokens[role]}"} if role in self.tokens else {}
            body = json.dumps(row.body).encode() if row.body else b"{}" if row.method == "POST" else b"x"
            response = client.generic(row.method, path, body, "application/json", headers=headers)
        else:
            client.cookies["sessionid"] = self.sessions.get(role, "")
            response = client.get(path) if row.method == "GET" else client.post(path, row.body)
        if response.streaming:
            assert b"".join(response.streaming_content) == b"hello"
        return verdict(response.status_code, response.get("Location", ""))


@pytest.fixture(scope="module", params=VISIBILITIES)
def scene(request, django_db_setup, django_db_blocker) -> Iterator[Scene]:
    """Each request's changes are undone."""
    with django_db_blocker.unblock(), transaction.atomic():
        cast = make_cast()
        people = {role: person for role in ROLES if (person := cast.person(role)) is not None}
        tokens = {role: create_token(user=person, name="t") for role, person in people.items()}
        sessions = {role: session_of(person) for role, person in people.items()}
        yield Scene(request.param, make_world(cast, request.param), sessions, tokens)
        transaction.set_rollback(True)


def session_of(person: User) -> str:
    client = Client()
    client.force_login(person)
    return client.cookies["sessionid"].value


@pytest.mark.django_db
@pytest.mark.parametrize("row", [*PAGES, *API], ids=str)
def test_everyone_gets_exactly_what_the_table_says(row, scene, tmp_path, settings):
    settings.WORKSPACES_DIR = tmp_path
    answers = {}
    for role in ROLES:
        try:
            with transaction.atomic():
                workspaces.of(scene.world.conversation).write_bytes(PATH, b"hello")
                answers[role] = scene.ask(row, role)
                raise Undo
        except Undo:
            pass
    wrong = {role: said for role, said in answers.items() if said not in expected(row, scene.visibility, role)}
    assert wrong == {}


def test_every_page_is_in_the_table():
    assert routes.page_routes() == {row.route for row in PAGES}


def test_every_route_of_the_api_is_in_the_table():
    assert routes.api_routes() == {(row.route, row.method) for row in API}


def test_every_socket_is_in_the_table():
    assert routes.socket_routes() == {row.route for row in SOCKETS}
