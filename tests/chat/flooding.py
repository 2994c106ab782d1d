"""An application for Daphne that says as much as it may over a socket or in an endless answer, and tells how much that
was."""

import asyncio
from collections import Counter
from typing import Any

from agentweb.chat.pacing import Paced

FRAME = "x" * 8_000
sent: Counter[str] = Counter()


async def flood(scope: dict[str, Any], receive: Any, send: Any) -> None:
    path = scope["path"]
    await receive()
    if scope["type"] == "websocket":
        await send({"type": "websocket.accept"})
        part: dict[str, Any] = {"type": "websocket.send", "text": FRAME}
    else:
        await send({"type": "http.response.start", "status": 200})
        part = {"type": "http.response.body", "body": FRAME.encode(), "more_body": True}
    sent[f"{path}/asked"] += 1
    gone = asyncio.ensure_future(receive())
    if path == "/flood/late":
        await gone
        await send(part)
        sent[path] += len(FRAME)
    while not gone.done():
        await send(part)
        sent[path] += len(FRAME)
        await asyncio.sleep(0)


paced = Paced(flood)


async def application(scope: dict[str, Any], receive: Any, send: Any) -> None:
    path = scope["path"]
    if path.startswith("/flood/"):
        await paced(scope, receive, send)
    else:
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": str(sent[f"/flood{path}"]).encode()})
