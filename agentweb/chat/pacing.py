"""Makes whoever writes to a socket wait for whoever reads it.

Daphne takes all that it is told to send into memory and never makes the application wait, so a page that does not read
would grow the process. Its transport does say when it has more than it can pass on; other servers wait by themselves.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from daphne.ws_protocol import WebSocketProtocol
from twisted.internet.interfaces import IPushProducer
from zope.interface import implementer

Send = Callable[[dict[str, Any]], Awaitable[None]]
Application = Callable[[dict[str, Any], Callable[..., Any], Send], Awaitable[None]]


@implementer(IPushProducer)
class Pace:
    """Told by the transport when its buffer is full (64 KB) and when it is empty again."""

    def __init__(self, protocol: WebSocketProtocol) -> None:
        self._protocol = protocol
        self._free = asyncio.Event()
        self._free.set()

    def begin(self) -> None:
        self._protocol.unregisterProducer()  # that of the HTTP request which became this socket
        self._protocol.registerProducer(self, True)

    def end(self) -> None:
        """A transport that has somebody to tell would not close after its last byte."""
        self._protocol.unregisterProducer()
        self._free.set()

    async def wait(self) -> None:
        await self._free.wait()

    def pauseProducing(self) -> None:
        self._free.clear()

    def resumeProducing(self) -> None:
        self._free.set()
        if self._protocol.transport.disconnecting:
            self.end()

    def stopProducing(self) -> None:
        """Nobody is there any more; what is sent then goes nowhere."""
        self._free.set()


class PacedSockets:
    """An ASGI application whose ``websocket.send`` returns once the reader has taken most of what came before."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: dict[str, Any], receive: Callable[..., Any], send: Send) -> None:
        protocol = _protocol_behind(send)
        await self._application(scope, receive, _paced(send, protocol) if protocol is not None else send)


def _protocol_behind(send: Send) -> WebSocketProtocol | None:
    """Daphne's protocol of this socket; None under another server."""
    behind = send.args[0] if isinstance(send, partial) and send.args else None
    return behind if isinstance(behind, WebSocketProtocol) else None


def _paced(send: Send, protocol: WebSocketProtocol) -> Send:
    pace = Pace(protocol)

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
