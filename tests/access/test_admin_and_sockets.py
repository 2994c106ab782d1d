"""The admin and the sockets: who gets in."""

import pytest
from asgiref.sync import async_to_sync
from channels.routing import URLRouter
from channels.sessions import SessionMiddlewareStack
from channels.testing import WebsocketCommunicator
from django.test import Client
from django.urls import NoReverseMatch, reverse

from agentweb.chat.routing import websocket_urlpatterns
from tests.access import routes
from tests.access.table import ALLOWED, ROLES, SOCKETS, Needs
from tests.access.world import VISIBILITIES, address, make_world
from tests.cast import make_cast
from tests.valkey import shared_valkey, valkey  # noqa: F401  (fixtures)


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
        answers[role] = async_to_sync(opened)(
            address(row.route, world), client.cookies.output(header="", attrs=[]).strip()
        )
    right = {role: "open" if role in ALLOWED[Needs.SEE][visibility] else 4404 for role in ROLES} | {"anonymous": 4401}
    assert answers == right


async def opened(path: str, cookie: str) -> str | int:
    """``open``, or the code with which the socket was closed."""
    application = SessionMiddlewareStack(URLRouter(websocket_urlpatterns))
    communicator = WebsocketCommunicator(application, path, headers=[(b"cookie", cookie.encode())])
    await communicator.connect(timeout=60)
    first = await communicator.receive_output(timeout=60)
    await communicator.disconnect()
    return first["code"] if first["type"] == "websocket.close" else "open"
