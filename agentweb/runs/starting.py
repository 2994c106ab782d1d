"""Whether calls may still start, looked at in the transaction that records their start."""

from collections.abc import Iterable

from agentweb.engine import events
from agentweb.runs import grants


def barred(batch: Iterable[events.Event]) -> bool:
    """Whether a start in this batch rests on something that has ended since the call was judged."""
    wanted = {event.grant for event in batch if isinstance(event, events.ToolStarted) and event.grant}
    return bool(wanted) and grants.lasting(wanted) != wanted
