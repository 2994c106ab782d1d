"""Owner, member, admin, reviewer, stranger and nobody at every address of the site."""

import json
import re

import pytest
from asgiref.sync import async_to_sync
from channels.routing import URLRouter
from channels.sessions import SessionMiddlewareStack
from channels.testing import WebsocketCommunicator
from django.db import transaction
from django.test import Client
from django.urls import NoReverseMatch, reverse

from agentweb.chat.routing import websocket_urlpatterns
from agentweb.runs import workspaces
from agentweb.teams.tokens import create_token
from tests.access import routes
from tests.access.table import ALLOWED, API, HIDDEN, PAGES, ROLES, SEES, SOCKETS, Needs, Row
from tests.access.world import PATH, World, make_world
from tests.cast import Cast, make_cast
from tests.valkey import shared_valkey, valkey  # noqa: F401  (fixtures)

VISIBILITIES = ("private", "team")


class Undo(Exception):
    """Ends a transaction whose changes are not wanted."""


def address(row: Row, world: World) -> str:
    ids = world.ids()
    return "/" + re.sub(r"<(\w+)>", lambda found: ids[found[1]], row.route)


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
    path = address(row, world)
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


@pytest.mark.django_db
@pytest.mark.parametrize("visibility", VISIBILITIES)
@pytest.mark.parametrize("row", [*PAGES, *API], ids=str)
def test_everyone_gets_exactly_what_the_table_says(row, visibility, tmp_path, settings):
    settings.WORKSPACES_DIR = tmp_path
    cast = make_cast()
    world = make_world(cast, visibility)
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


@pytest.mark.django_db
@pytest.mark.parametrize("role", [role for role in ROLES if role != "admin"])
def test_the_admin_is_for_staff_alone(role):
    cast = make_cast()
    client = Client()
    if (user := cast.person(role)) is not None:
        client.force_login(user)
    tried = 0
    for name in sorted(routes.admin_names() - {"login", "logout", "jsi18n"}):
        for arguments in ((), ("1",), ("teams",)):
            try:
                path = reverse(f"admin:{name}", args=arguments)
            except NoReverseMatch:
                continue
            tried += 1
            response = client.get(path)
            assert response.status_code in (302, 403, 404), path
            assert "login" in response.get("Location", "login"), path
    assert tried > 30


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("visibility", VISIBILITIES)
@pytest.mark.parametrize("row", SOCKETS, ids=str)
def test_a_socket_opens_for_those_who_may_see_the_conversation(row, visibility, valkey):  # noqa: F811
    cast = make_cast()
    world = make_world(cast, visibility)
    answers = {}
    for role in ROLES:
        client = Client()
        if (user := cast.person(role)) is not None:
            client.force_login(user)
        answers[role] = async_to_sync(opened)(address(row, world), client.cookies.output(header="", attrs=[]).strip())
    right = {role: "open" if role in ALLOWED[Needs.SEE][visibility] else 4404 for role in ROLES} | {"anonymous": 4401}
    assert answers == right


async def opened(path: str, cookie: str) -> str | int:
    """``open``, or the code with which the socket was closed."""
    application = SessionMiddlewareStack(URLRouter(websocket_urlpatterns))
    communicator = WebsocketCommunicator(application, path, headers=[(b"cookie", cookie.encode())])
    await communicator.connect()
    first = await communicator.receive_output(timeout=5)
    await communicator.disconnect()
    return first["code"] if first["type"] == "websocket.close" else "open"
