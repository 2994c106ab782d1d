"""The engine's look into a run's queue. Looking takes nothing: the journal takes a message with its event."""

from collections.abc import Awaitable, Callable

from django.db.models import BigAutoField, CharField

from agentweb.engine.events import Queued
from agentweb.runs.models import QueuedMessage
from agentweb.teams import fixed

_WAITING = fixed.Query(
    lambda run, delivery: (
        QueuedMessage.objects.select_related("author")
        .filter(run=run, delivery=delivery, status=QueuedMessage.Status.QUEUED)
        .order_by("pk")
    ),
    run=BigAutoField(),
    delivery=CharField(),
)
Look = Callable[[], tuple[Queued, ...]]


class RunInbox:
    """Implements the engine's Inbox for one run; ``in_thread`` runs a database look outside the event loop."""

    def __init__(self, run_id: int, in_thread: Callable[[Look], Awaitable[tuple[Queued, ...]]]) -> None:
        self._run_id = run_id
        self._in_thread = in_thread

    async def steering(self) -> tuple[Queued, ...]:
        return await self._in_thread(lambda: self._waiting(QueuedMessage.Delivery.STEERING))

    async def follow_ups(self) -> tuple[Queued, ...]:
        return await self._in_thread(lambda: self._waiting(QueuedMessage.Delivery.FOLLOW_UP))

    def _waiting(self, delivery: str) -> tuple[Queued, ...]:
        rows = _WAITING.all(run=self._run_id, delivery=delivery)
        return tuple(Queued(str(row.public_id), row.text, row.author.display_name, row.revision) for row in rows)
