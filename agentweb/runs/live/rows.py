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
class Recorded:
    """How far the rows of a run go. ``finished``: no event will come after ``last``."""

    last: int
    finished: bool


NOTHING = Recorded(0, True)


def _recorded(run: str) -> Recorded:
    row = Run.objects.filter(public_id=run).values_list("last_event", "status").first()
    return Recorded(row[0], row[1] == Run.Status.FINISHED) if row else NOTHING


def _stored_after(run: str, cursor: Cursor, last: int) -> Frame | None:
    """One frame for the next events after the cursor, at most BATCH and none after ``last``; None without any."""
    row = Run.objects.filter(public_id=run).values("pk", "status", "epoch").first()
    if row is None:
        return None
    wanted = Event.objects.filter(run_id=row["pk"], number__gt=cursor.event, number__lte=last)
    found = list(wanted.order_by("number")[:BATCH])
    if not found:
        return None
    batch = [decode(event.kind, json.loads(event.payload)) for event in found]
    frame = event_frame(
        run=run,
        last=found[-1].number,
        kinds=[event.kind for event in found],
        cards=changed_cards(run, batch),
        status=row["status"],
        opened=opened_message(batch),
    )
    return {"c": str(Cursor(found[-1].number)), "p": str(cursor), **frame, "epoch": row["epoch"]}


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


recorded = in_pool(_recorded)
stored_after = in_pool(_stored_after)
runs_after = in_pool(_runs_after)
