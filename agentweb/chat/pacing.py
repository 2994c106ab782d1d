"""Makes whoever writes to a page or a program wait for whoever reads.

Daphne takes all that it is told to send into memory and never makes the application wait, so a reader that takes
nothing would grow the process. Its transport says when it has more than it can pass on; other servers wait by
themselves.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeAlias

from daphne.http_protocol import WebRequest
from daphne.ws_protocol import WebSocketProtocol
from twisted.internet.interfaces import IPushProducer
from zope.interface import implementer

Protocol: TypeAlias = WebSocketProtocol | WebRequest
Send = Callable[[dict[str, Any]], Awaitable[None]]
Application = Callable[[dict[str, Any], Callable[..., Any], Send], Awaitable[None]]


@implementer(IPushProducer)
class Pace:
    """Told by the transport when its buffer is full (64 KB) and when it is empty again."""

    def __init__(self, protocol: Protocol) -> None:
        self._protocol = protocol
        self._free = asyncio.Event()
        self._free.set()
        self._told = False

    def begin(self) -> None:
        if isinstance(self._protocol, WebSocketProtocol):
            self._protocol.unregisterProducer()  # that of the HTTP request which became this socket
        elif self._protocol.channel is None:
            return  # the reader has gone already
        self._protocol.registerProducer(self, True)
        self._told = True

    def end(self) -> None:
        """A transport that has somebody to tell would not close after its last byte."""
        if self._told:
            self._protocol.unregisterProducer()
        self.stopProducing()

    async def wait(self) -> None:
        await self._free.wait()

    def pauseProducing(self) -> None:
        self._free.clear()

    def resumeProducing(self) -> None:
        self._free.set()
        if self._told and self._protocol.transport.disconnecting:
            self.end()

    def stopProducing(self) -> None:
        """Nobody is there any more; what is sent then goes nowhere."""
        self._told = False
        self._free.set()


class Paced:
    """An ASGI application whose ``send`` returns once the reader has taken most of what came before, on a websocket and
    in an answer that comes in parts."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: dict[str, Any], receive: Callable[..., Any], send: Send) -> None:
        protocol = _protocol_behind(send)
        pace = _paced_socket if scope["type"] == "websocket" else _paced_answer
        await self._application(scope, receive, pace(send, Pace(protocol)) if protocol is not None else send)


def _protocol_behind(send: Send) -> Protocol | None:
    """Daphne's side of this reader; None under another server."""
    behind = send.args[0] if isinstance(send, partial) and send.args else None
    return behind if isinstance(behind, (WebSocketProtocol, WebRequest)) else None


def _paced_socket(send: Send, pace: Pace) -> Send:
    async def paced(message: dict[str, Any]) -> None:
        match message["type"]:
            case "websocket.send":
                await pace.wait()
            case "websocket.close":
                pace.end()
        await send(message)
        if message["type"] == "websocket.accept":
            pace.begin()

    return paced


def _paced_answer(send: Send, pace: Pace) -> Send:
    parts = 0

    async def paced(message: dict[str, Any]) -> None:
        nonlocal parts
        if message["type"] != "http.response.body":
            return await send(message)
        more, parts = message.get("more_body", False), parts + 1
        await pace.wait()
        if not more:
            pace.end()
        await send(message)
        if more and parts == 1:
            pace.begin()

    return paced
