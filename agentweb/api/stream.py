"""The events of a run for programs: in pages, waiting for the next one, or as server-sent events with every delta."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing
from typing import Any

from asgiref.sync import sync_to_async
from django.db import connection
from django.http import HttpRequest, JsonResponse, StreamingHttpResponse
from django.utils.translation import gettext as _

from agentweb.api.auth import caller_again
from agentweb.api.shapes import event_out
from agentweb.runs import live, selectors
from agentweb.runs.errors import Invalid, NotFound
from agentweb.runs.live import Cursor, Frame
from agentweb.runs.live.rows import in_pool
from agentweb.runs.models import Event, Run

MOST_WAIT = 30
KEEP_ALIVE_S = 15.0
RECHECK_S = 30.0


def _let_go() -> None:
    """There may be more requests that wait than the database takes connections."""
    if not connection.in_atomic_block:
        connection.close()


def _still_sees(request: HttpRequest, run: Run) -> bool:
    user = caller_again(request)
    try:
        return user is not None and selectors.run_for(user, run.public_id) is not None
    except NotFound:
        return False


run_for = sync_to_async(selectors.run_for)
events_after = sync_to_async(selectors.events_after)
let_go = sync_to_async(_let_go)
still_sees = in_pool(_still_sees)
later_events_after = in_pool(selectors.events_after)


async def answer(request: HttpRequest, run_id: str, after: str, wait: float):
    """The response of ``GET /runs/{id}/events``. Raises NotFound and Invalid."""
    run = await run_for(request.user, run_id)
    if "text/event-stream" in request.headers.get("Accept", ""):
        cursor = _cursor(request.headers.get("Last-Event-ID") or after)
        await let_go()
        return StreamingHttpResponse(
            server_sent(request, run, cursor),
            content_type="text/event-stream",
            headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"},
        )
    number = _cursor(after).event
    rows = await events_after(run, number)
    if not rows and wait > 0 and run.status != Run.Status.FINISHED:
        await let_go()
        rows = await _next_events(run, number, wait)
    return JsonResponse({"items": [event_out(row) for row in rows], "next": rows[-1].number if rows else number})


async def server_sent(
    request: HttpRequest,
    run: Run,
    cursor: Cursor,
    *,
    keep_alive_s: float = KEEP_ALIVE_S,
    recheck_s: float = RECHECK_S,
) -> AsyncIterator[str]:
    """Server-sent events after the cursor, until the run has finished or the caller may not see it any more; a comment
    whenever it is silent for long."""
    frames = live.follow(run.public_id, run.conversation.public_id, cursor)
    checked = time.monotonic()
    async with aclosing(frames):
        pending = asyncio.ensure_future(anext(frames))
        try:
            while True:
                done, _waiting = await asyncio.wait({pending}, timeout=keep_alive_s)
                if time.monotonic() - checked > recheck_s:
                    if not await still_sees(request, run):
                        return
                    checked = time.monotonic()
                if not done:
                    yield ": still here\n\n"
                    continue
                for text in await _as_text(run, pending.result()):
                    yield text
                pending = asyncio.ensure_future(anext(frames))
        except StopAsyncIteration:
            return
        finally:
            pending.cancel()
            await asyncio.gather(pending, return_exceptions=True)


async def _next_events(run: Run, number: int, wait: float) -> list[Event]:
    """The events behind ``number``, as soon as there is one, or none after ``wait`` seconds."""
    frames = live.follow(run.public_id, run.conversation.public_id, Cursor(number))
    try:
        async with asyncio.timeout(wait), aclosing(frames):
            async for frame in frames:
                if frame.get("events"):
                    break
    except TimeoutError:
        pass
    return await later_events_after(run, number)


async def _as_text(run: Run, frame: Frame) -> list[str]:
    """A frame as server-sent events. Only the last one carries an id, so that resuming repeats no half frame."""
    if frame.get("events"):
        first = frame["events"][0]["number"]
        rows = await later_events_after(run, first - 1, len(frame["events"]))
        return [_sse(row.kind, event_out(row), f"{row.number}-0") for row in rows]
    parts = list(_live_parts(frame))
    last = len(parts) - 1
    return [_sse(kind, data, frame["c"] if place == last else "") for place, (kind, data) in enumerate(parts)]


def _live_parts(frame: Frame) -> Iterator[tuple[str, dict[str, Any]]]:
    if written := frame.get("snapshot"):
        for kind in ("thinking", "text"):
            if written[kind]:
                yield "Delta", _delta(written["message"], kind, 0, written[kind])
    for kind, offset, text in frame.get("deltas", ()):
        yield "Delta", _delta(frame["message"], kind, offset, text)
    for call, text, fraction in frame.get("progress", ()):
        yield "ToolProgressed", {"kind": "ToolProgressed", "data": {"call": call, "text": text, "fraction": fraction}}


def _delta(message: str, kind: str, offset: int, text: str) -> dict[str, Any]:
    return {"kind": "Delta", "data": {"message": message, "kind": kind, "offset": offset, "text": text}}


def _sse(kind: str, data: dict[str, Any], cursor: str) -> str:
    head = f"id: {cursor}\n" if cursor else ""
    return f"{head}event: {kind}\ndata: {json.dumps(data)}\n\n"


def _cursor(text: str) -> Cursor:
    try:
        return Cursor.parse(text)
    except ValueError as error:
        words = _("after is an event number or a cursor such as 12-3.")
        raise Invalid(words, [("after", words)]) from error
