"""Sockets of the site for tests, with the session of a person."""

import asyncio
from contextlib import asynccontextmanager

from channels.auth import AuthMiddlewareStack
from channels.routing import URLRouter
from channels.testing import WebsocketCommunicator
from django.test import Client
from django.urls import path

from agentweb.chat import consumers
from agentweb.config.asgi import application
from agentweb.teams.models import User
from tests.author import in_thread


def session_of(user: User | None) -> str:
    client = Client()
    if user is not None:
        client.force_login(user)
        return client.cookies["sessionid"].value
    return ""


def socket_of(session: str, conversation, query: str = "", origin: str = "http://testserver") -> WebsocketCommunicator:
    headers = [(b"host", b"testserver"), (b"cookie", f"sessionid={session}".encode())]
    if origin:
        headers.append((b"origin", origin.encode()))
    return WebsocketCommunicator(application, f"/ws/conversations/{conversation}/{query}", headers)


@asynccontextmanager
async def connected(user: User, conversation, query: str = ""):
    socket = socket_of(await in_thread(session_of, user), conversation, query)
    assert (await socket.connect(timeout=15))[0]
    try:
        yield socket
    finally:
        await socket.disconnect()


async def close_code(socket: WebsocketCommunicator) -> int:
    while (message := await socket.receive_output(timeout=15))["type"] != "websocket.close":
        pass
    assert type(message["code"]) is int  # Daphne refuses its relatives
    return message["code"]


async def frames_until(socket: WebsocketCommunicator, kind: str) -> list[dict]:
    frames = []
    while True:
        frame = await socket.receive_json_from(timeout=15)
        if "run" in frame:
            frames.append(frame)
        if any(event["kind"] == kind for event in frame.get("events", ())):
            return frames


def impatient(
    user_session: str, conversation, *, reader: asyncio.Event | None = None, **patience: float
) -> WebsocketCommunicator:
    """A socket of the same consumer, which looks and pings more often; it takes no frame before ``reader`` is set."""
    route = path("ws/conversations/<uuid:conversation>/", consumers.ConversationConsumer.as_asgi(**patience))
    served = AuthMiddlewareStack(URLRouter([route]))

    async def stuffed(scope, receive, send):
        async def slow(message):
            if message["type"] == "websocket.send":
                await reader.wait()
            await send(message)

        await served(scope, receive, slow)

    headers = [(b"cookie", f"sessionid={user_session}".encode())]
    return WebsocketCommunicator(stuffed if reader else served, f"/ws/conversations/{conversation}/", headers)
