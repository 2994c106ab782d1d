"""The stored events of runs as frames: what a follower shows where Redis has nothing to say."""

import json
from dataclasses import dataclass

from asgiref.sync import sync_to_async
from django.db import close_old_connections

from agentweb.engine.codec import decode
from agentweb.runs.cards import changed_cards, opened_message
from agentweb.runs.live.cursor import Cursor
from agentweb.runs.live.publish import event_frame
from agentweb.runs.live.window import Frame
from agentweb.runs.models import Event, Run

BATCH = 200


@dataclass(frozen=True, slots=True)
class Stored:
    """One frame for up to BATCH events after the cursor, None without any. ``finished``: there will be no more."""

    frame: Frame | None
    finished: bool


def _stored_after(run: str, cursor: Cursor) -> Stored:
    row = Run.objects.filter(public_id=run).values("pk", "status", "epoch", "last_event").first()
    if row is None:
        return Stored(None, True)
    found = list(Event.objects.filter(run_id=row["pk"], number__gt=cursor.event).order_by("number")[:BATCH])
    last = found[-1].number if found else cursor.event
    finished = row["status"] == Run.Status.FINISHED and last >= row["last_event"]
    if not found:
        return Stored(None, finished)
    batch = [decode(event.kind, json.loads(event.payload)) for event in found]
    frame = event_frame(
        run=run,
        last=last,
        kinds=[event.kind for event in found],
        cards=changed_cards(run, batch),
        status=row["status"],
        opened=opened_message(batch),
    )
    return Stored({"c": str(Cursor(last)), "p": str(cursor), **frame, "epoch": row["epoch"]}, finished)


def _runs_after(conversation: str, run: str | None) -> list[str]:
    runs = Run.objects.filter(conversation__public_id=conversation)
    if run is not None:
        runs = runs.filter(pk__gt=Run.objects.filter(public_id=run).values("pk"))
    return [str(public_id) for public_id in runs.order_by("pk").values_list("public_id", flat=True)]


def in_pool(read):
    """Make a read awaitable, for those who wait long: it borrows a thread and its connection for as long as it takes.

    Threads of the pool live on: a connection that the server has closed meanwhile is not used again."""

    def fresh(*arguments):
        close_old_connections()
        try:
            return read(*arguments)
        finally:
            close_old_connections()

    return sync_to_async(fresh, thread_sensitive=False)


stored_after = in_pool(_stored_after)
runs_after = in_pool(_runs_after)
