"""Whether calls may still start, looked at in the transaction that records their start."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from django.db.models import BigAutoField

from agentweb.engine import events
from agentweb.engine.enums import StopAfter
from agentweb.registry.policies import Basis, fields, standing_rows, text
from agentweb.runs import grants
from agentweb.runs.models import Run, Taint
from agentweb.teams import fixed

TAINT = "taint"


def barred(run: Run, batch: Iterable[events.Event], basis: Basis | None) -> bool:
    """Whether a start in this batch rests on something that is different since the call was judged, or comes after a
    person's wish that nothing more starts. ``run`` is locked; ``basis``: on what the judgement rests."""
    starts = [event for event in batch if isinstance(event, events.ToolStarted)]
    if not starts:
        return False
    if run.cancel_requested_at or run.stop_after == StopAfter.REASONING:
        return True
    if basis is not None and not _stands(run, basis):
        return True
    wanted = {event.grant for event in starts if event.grant}
    return bool(wanted) and grants.lasting(wanted) != wanted


def _stands(run: Run, basis: Basis) -> bool:
    """Whether the calls would be judged by the same once more. One query."""
    rows = _look(len(basis.tools)).all(**basis.slots, conversation=run.conversation_id)
    tainted = any(kind == TAINT for kind, *_more in rows)
    same = {row for row in rows if row[0] != TAINT} == basis.rows
    return same and basis.tainted in (None, tainted)


@lru_cache(maxsize=32)
def _look(number: int) -> fixed.Query:
    """The query for so many tools."""
    return fixed.Query(_rows, **fields(number), conversation=BigAutoField())


def _rows(*, conversation: Any, **slots: Any) -> Any:
    """What stands, and one row more where the conversation holds untrusted text that nobody has cleared."""
    read = Taint.objects.filter(conversation=conversation, cleared_at=None, arrived_at__isnull=False).order_by()
    return standing_rows(read.values_list(text(TAINT), text(""), text(""), text("")).distinct(), **slots)
