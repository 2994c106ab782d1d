"""The one writer of events and of the rows derived from them.

One call is one transaction: the batch of events of one boundary and everything that follows from them, or nothing.
While a run is leased only its holder writes; each write is conditional on the epoch of the claim.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import BigAutoField, DurationField, Exists, F, PositiveIntegerField, Q, QuerySet, UUIDField
from django.db.models.functions import Now
from django.utils import timezone

from agentweb.engine import events
from agentweb.engine.codec import decode, encode, kind_of
from agentweb.engine.enums import CallStatus, Outcome, ResultKind
from agentweb.engine.messages import ToolResult
from agentweb.engine.sentences import HALTED
from agentweb.registry.policies import Basis
from agentweb.runs import chain, halts, outbox, starting
from agentweb.runs.models import Approval, Call, Event, Halt, QueuedMessage, Run, WorkerProcess
from agentweb.runs.projection import Projection
from agentweb.schema.json_text import canonical
from agentweb.schema.text import clean_json
from agentweb.teams import fixed

PROGRESS = (events.MessageFinished, events.ToolFinished, events.RunPaused)


class LeaseLost(Exception):
    """Another worker has the run now, or it is finished: stop without a word."""


@dataclass(frozen=True, slots=True)
class Claimed:
    """The right to advance a run. ``user`` asked for it; they, ``agent`` and ``team`` are row
    ids. ``resumed``: the run had worked before; ``recovered``: its
    worker was lost; ``exhausted``: it has been claimed too often without getting anywhere."""

    run_id: int
    run: str
    conversation_id: int
    conversation: str
    user: int
    agent: int
    team: int
    attended: bool
    epoch: int
    resumed: bool
    recovered: bool
    exhausted: bool


@dataclass(frozen=True, slots=True)
class Appended:
    """What became of a batch: its first and last number, and whether its end (pause or finish) was refused because
    something arrived meanwhile. ``halt``: the row id of the emergency stop that it ran into."""

    first: int
    last: int
    finished: bool = False
    paused: bool = False
    refused: bool = False
    halt: int = 0


def claim(run: str, worker: WorkerProcess) -> Claimed | None:
    """Take the run for this worker, or None when it is not to be had."""
    try:
        with transaction.atomic():
            row: Run | None = _FREE.first(public_id=run, lease=timedelta(seconds=settings.LEASE_SECONDS))
            if row is None or _held_up(row):
                return None
            return _taken(row, worker)
    except LeaseLost:
        return None


def _held_up(row: Run) -> bool:
    """Hold a queued run that an emergency stop lets do nothing. A wish to end it comes first."""
    if not row.halts_stand or row.status != Run.Status.QUEUED or row.cancel_requested_at:
        return False
    halt = halts.stopped(halts.standing(), agent=row.agent_id, team=row.conversation.team_id)
    return halt is not None and _hold(row, halt.pk)


def _hold(row: Run, halt: int, before: events.Batch = ()) -> bool:
    """Whether the stop still counts; who ends it waits until the run is held, and then finds it."""
    stop = Halt.objects.select_for_update(of=("self",)).filter(pk=halt, ended_at=None).first()
    if stop is None:
        return False
    what = stop.agent.name if stop.agent else stop.tool
    _write(row, (*before, events.RunHeld(str(stop.public_id), what, stop.by.display_name, stop.reason)))
    return True


def hold(claimed: Claimed, halt: int) -> bool:
    """Hold a run that is at work, with its calls that run closed; False where the stop is over, or people want the run
    to end. Raises LeaseLost."""
    with transaction.atomic():
        row: Run | None = _LOCKED.first(pk=claimed.run_id)
        if row is None or row.epoch != claimed.epoch or row.status != Run.Status.RUNNING:
            raise LeaseLost(claimed.run)
        if row.cancel_requested_at:
            return False
        closed = tuple(_ended(call) for call in row.calls.filter(status=Call.Status.STARTED).order_by("pk"))
        return _hold(row, halt, closed)


def _ended(call: Call) -> events.ToolFinished:
    public_id = str(call.public_id)
    result = ToolResult(public_id, HALTED, ResultKind.CANCELLED)
    return events.ToolFinished(public_id, call.name, result, CallStatus.CANCELLED)


def _taken(row: Run, worker: WorkerProcess) -> Claimed:
    recovered, resumed = row.status == Run.Status.RUNNING, row.last_event > 1
    exhausted = row.attempts >= settings.MAX_ATTEMPTS
    changes = {
        "owner_id": worker.pk,
        "epoch": row.epoch + 1,
        "attempts": row.attempts + 1,
        "status": Run.Status.RUNNING,
        "enqueued_times": 0,
    }
    batch: events.Batch = (events.RunClaimed(worker.name, row.epoch + 1),)
    if resumed:
        batch += (events.RunResumed(recovered),)
    _write(row, batch, changes)
    return Claimed(
        run_id=row.pk,
        run=str(row.public_id),
        conversation_id=row.conversation_id,
        conversation=str(row.conversation.public_id),
        user=row.requested_by_id,
        agent=row.agent_id,
        team=row.conversation.team_id,
        attended=row.attended,
        epoch=row.epoch,
        resumed=resumed,
        recovered=recovered,
        exhausted=exhausted,
    )


def append(claimed: Claimed, batch: events.Batch, basis: Basis | None = None) -> Appended:
    """Record one boundary. ``basis``: on what the judgement of its starts rests; they are recorded only while that
    stands. Raises LeaseLost, or Stale when a queued message is no longer as the loop saw it."""
    with transaction.atomic():
        row: Run | None = _LOCKED.first(pk=claimed.run_id)
        if row is None or row.epoch != claimed.epoch or row.status != Run.Status.RUNNING:
            raise LeaseLost(claimed.run)
        halt, batch = halts.against(row, batch) if row.halts_stand else (None, batch)
        batch, refused = _admitted(row, batch, basis)
        first = row.last_event + 1
        if batch:
            _write(row, batch)
    end = batch[-1] if batch else None
    return Appended(
        first=first,
        last=first + len(batch) - 1,
        finished=isinstance(end, events.RunFinished),
        paused=isinstance(end, events.RunPaused),
        refused=refused or halt is not None,
        halt=halt.pk if halt else 0,
    )


def start(row: Run, batch: events.Batch) -> None:
    """Insert a run with its first events, which change no other row. Called inside a transaction."""
    now = timezone.now()
    stored, clean, changes = _chained(row, batch, now)
    for name, value in changes.items():
        setattr(row, name, value)
    fixed.insert(row)
    for event in stored:
        event.run = row
    fixed.insert_all(stored)
    outbox.announce(row, clean, row.last_event)


def amend(run: int, batch: events.Batch) -> None:
    """Record what a person found out about a run that waits. Called inside a transaction. Raises LeaseLost when it does
    not wait."""
    row: Run | None = _LOCKED.first(pk=run)
    if row is None or row.status != Run.Status.WAITING:
        raise LeaseLost(str(run))
    _write(row, batch)


def release(claimed: Claimed) -> None:
    """Give a run back at a boundary, so that another worker goes on with it."""
    with transaction.atomic():
        changed = Run.objects.filter(pk=claimed.run_id, epoch=claimed.epoch, status=Run.Status.RUNNING).update(
            status=Run.Status.QUEUED, owner=None, queued_at=timezone.now(), enqueued_at=timezone.now(), attempts=0
        )
        if changed:
            outbox.enqueue(claimed.run)


_UNREAD = (
    *("reason", "reason_text", "error", "goals", "held_at", "queued_at", "enqueued_at", "created_at", "finished_at"),
    *("conversation__title", "conversation__active_at", "conversation__created_at", "conversation__deleted_at"),
)
"""Columns that whoever writes events does not look at."""


def _locked() -> QuerySet[Run]:
    """Runs, each locked alone where the database can: PostgreSQL does not lock what an outer join may lack."""
    runs = Run.objects.select_for_update(of=("self",)).select_related("conversation").defer(*_UNREAD).order_by()
    return runs.annotate(halts_stand=Exists(Halt.objects.filter(ended_at=None)))


def _free(lease: fixed.Slot) -> Q:
    """Queued, or running with an owner that no longer beats (by the database's clock)."""
    lost = Q(owner=None) | Q(owner__beat_at__lt=Now() - lease)
    return Q(status=Run.Status.QUEUED) | (Q(status=Run.Status.RUNNING) & lost)


_FREE = fixed.Query(
    lambda public_id, lease: _locked().filter(_free(lease), public_id=public_id),
    public_id=UUIDField(),
    lease=DurationField(),
)
_LOCKED = fixed.Query(lambda pk: _locked().filter(pk=pk), pk=BigAutoField())
_WRITE = fixed.Update(
    lambda pk, epoch: Run.objects.filter(pk=pk, epoch=epoch), pk=BigAutoField(), epoch=PositiveIntegerField()
)


def _admitted(row: Run, batch: events.Batch, basis: Basis | None) -> tuple[events.Batch, bool]:
    """What of a batch may be recorded, and whether something may not: then the loop must look again.

    Without one of its starts none of a batch is recorded: they were to go side by side."""
    if batch and _refused(row, batch[-1]):
        return batch[:-1], True
    if starting.barred(row, batch, basis):
        return tuple(event for event in batch if not isinstance(event, events.ToolStarted)), True
    return batch, False


def _refused(row: Run, end: events.Event) -> bool:
    """Whether the run may not stop here, since a person acted after the loop last looked."""
    if isinstance(end, events.RunPaused):
        if row.cancel_requested_at or row.stop_after:
            return True
        return not end.lost and _has_news(row)
    if isinstance(end, events.RunFinished) and end.outcome is Outcome.ANSWERED:
        return row.queue.filter(status=QueuedMessage.Status.QUEUED).exists()
    return False


def _has_news(row: Run) -> bool:
    """Whether a person decided about a call, or said what became of one, and the run has not acted on it."""
    decided = row.approvals.exclude(status=Approval.Status.PENDING).filter(taken_at=None)
    return decided.exists() or row.answers.filter(taken_at=None).exists()


def _write(row: Run, batch: events.Batch, more: Mapping[str, Any] = MappingProxyType({})) -> None:
    """Chain and store the events, apply them, and let the world know on commit. ``more``: other changes of the run."""
    now = timezone.now()
    stored, clean, chained = _chained(row, batch, now)
    fixed.insert_all(stored)
    changes = {**more, **Projection(row, now).apply(clean), **chained}
    if any(isinstance(event, PROGRESS) for event in clean):
        changes["attempts"] = 0
    if not _WRITE(changes, pk=row.pk, epoch=row.epoch):
        raise LeaseLost(str(row.public_id))
    for name, value in changes.items():
        setattr(row, name, value)
    outbox.announce(row, clean, row.last_event)


def _chained(row: Run, batch: events.Batch, now: datetime) -> tuple[list[Event], events.Batch, dict[str, Any]]:
    """The events as they are stored and as they are read again, and what of the run says where its chain ends."""
    stored: list[Event] = []
    clean: list[events.Event] = []
    number, head, run = row.last_event, row.head_hash, str(row.public_id)
    for event in batch:
        number += 1
        said = encode(event)
        data = clean_json(said)
        payload, kind = canonical(data), kind_of(event)
        digest = chain.payload_digest(payload)
        head = chain.next_hash(before=head, run=run, number=number, kind=kind, at=now, digest=digest)
        stored.append(
            Event(run=row, number=number, kind=kind, at=now, payload=payload, payload_digest=digest, hash=head)
        )
        clean.append(event if data == said else decode(kind, data))
    signature = chain.sign(run=run, number=number, head=head)
    return stored, tuple(clean), {"last_event": number, "head_hash": head, "head_signature": signature}


def mark_queued(row: Run, *, release: bool = False) -> bool:
    """A waiting run may go on: queue it, on commit. Called inside the transaction that decided something.

    A run that is held since its worker was lost stays where it is, unless this is to ``release`` it."""
    waiting = Run.objects.filter(pk=row.pk, status=Run.Status.WAITING)
    changed = (waiting if release else waiting.filter(held_at=None)).update(
        status=Run.Status.QUEUED,
        held_at=None,
        halt=None,
        queued_at=timezone.now(),
        enqueued_at=timezone.now(),
        enqueued_times=F("enqueued_times") + 1,
    )
    if changed:
        outbox.enqueue(str(row.public_id))
    return bool(changed)
