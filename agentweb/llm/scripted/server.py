"""The scripted model behind HTTP, as an OpenAI-compatible endpoint on the loopback interface.

    python -m agentweb.llm.scripted.server --port 0

prints its base URL and serves until it is interrupted.
"""

import argparse
import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web

from agentweb.llm.recorded import SCRIPTED_NAME
from agentweb.llm.scripted.model import DEFAULT_DELAY_S
from agentweb.llm.scripted.wire import completion, stream_bytes

_MAX_BODY_BYTES = 16 * 1024 * 1024
_DELAY: web.AppKey[float] = web.AppKey("delay", float)


def _problem(message: str, status: int = 400) -> web.Response:
    return web.json_response(
        {"error": {"message": message, "type": "invalid_request_error", "code": None}}, status=status
    )


async def _models(request: web.Request) -> web.Response:
    return web.json_response(
        {"object": "list", "data": [{"id": SCRIPTED_NAME, "object": "model", "owned_by": "agentweb"}]}
    )


async def _completions(request: web.Request) -> web.StreamResponse:
    try:
        body = json.loads(await request.read())
    except (ValueError, RecursionError):
        return _problem("The body is not JSON.")
    if not isinstance(body, dict) or not _are_messages(body.get("messages")):
        return _problem("messages must be a list of objects with a role.")
    if not body.get("stream"):
        return web.json_response(completion(body))
    response = web.StreamResponse(headers={"Content-Type": "text/event-stream", "Cache-Control": "no-store"})
    await response.prepare(request)
    async for data in stream_bytes(body, request.app[_DELAY]):
        await response.write(data)
    await response.write_eof()
    return response


def _are_messages(messages: object) -> bool:
    return isinstance(messages, list) and bool(messages) and all(isinstance(m, dict) and "role" in m for m in messages)


def make_app(delay_s: float = 0.0) -> web.Application:
    app = web.Application(client_max_size=_MAX_BODY_BYTES)
    app[_DELAY] = delay_s
    app.add_routes([web.get("/v1/models", _models), web.post("/v1/chat/completions", _completions)])
    return app


@asynccontextmanager
async def serving(*, port: int = 0, delay_s: float = 0.0) -> AsyncIterator[str]:
    """Serve on 127.0.0.1 while the block runs; gives the base URL."""
    runner = web.AppRunner(make_app(delay_s), access_log=None)
    await runner.setup()
    try:
        site = web.TCPSite(runner, "127.0.0.1", port)
        await site.start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}/v1"
    finally:
        await runner.cleanup()


async def _serve(port: int, delay_s: float) -> None:
    stopped = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stopped.set)
    async with serving(port=port, delay_s=delay_s) as url:
        print(url, flush=True)
        await stopped.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve the scripted model as an OpenAI-compatible endpoint.")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--delay", type=float, default=DEFAULT_DELAY_S, help="seconds before each streamed piece")
    arguments = parser.parse_args()
    asyncio.run(_serve(arguments.port, arguments.delay))


if __name__ == "__main__":
    main()
