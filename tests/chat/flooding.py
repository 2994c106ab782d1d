"""An application for Daphne that says as much as it may over each socket, and tells over HTTP how much that was."""

from typing import Any

from agentweb.chat.pacing import PacedSockets

FRAME = "x" * 8_000
sent = 0


async def flood(scope: dict[str, Any], receive: Any, send: Any) -> None:
    global sent
    await receive()
    await send({"type": "websocket.accept"})
    while True:
        await send({"type": "websocket.send", "text": FRAME})
        sent += len(FRAME)


paced = PacedSockets(flood)


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    if scope["type"] == "websocket":
        await paced(scope, receive, send)
    else:
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": str(sent).encode()})
