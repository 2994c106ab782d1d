"""What must happen although nobody asks for it: lost runs, forgotten runs, decisions not taken up, ended waits."""

from collections.abc import Collection
from datetime import timedelta
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from agentweb.runs import journal, live, outbox
from agentweb.runs.cards import card_of
from agentweb.runs.models import Approval, CallAnswer, Run, WorkerProcess

AT_MOST = 200  # rows in one go; the rest comes next time
FIRST_WAIT_S = 4.0
BUSY_WAIT_S = 64.0  # while workers have messages left to fetch: those of queued runs are most likely among them
DOUBLINGS = 6
GONE = timedelta(days=1)


def enqueue_waiting_for_worker() -> int:
    """Ask again for workers for lost runs and for queued ones whose message may be lost; each time less eagerly, and
    hardly while there is a backlog, which would only grow."""
    lost = Q(owner=None) | Q(owner__beat_at__lt=Now() - timedelta(seconds=settings.LEASE_SECONDS))
    queued = Q(status=Run.Status.QUEUED) & _patience_over(BUSY_WAIT_S if live.backlog() else FIRST_WAIT_S)
    left = Q(status=Run.Status.RUNNING) & lost & _patience_over(FIRST_WAIT_S)
    found = Run.objects.filter(queued | left).order_by("enqueued_at", "pk")
    rows = found.values_list("pk", "public_id", "epoch", "enqueued_times")[:AT_MOST]
    return sum(_enqueue_again(*row) for row in rows)


def _patience_over(first_s: float) -> Q:
    """Asked for last longer ago than this, doubled each time it was asked before."""
    over = Q(enqueued_at=None)
    for times in range(DOUBLINGS + 1):
        waited = Q(enqueued_at__lt=Now() - timedelta(seconds=first_s * 2**times))
        over |= waited & (Q(enqueued_times=times) if times < DOUBLINGS else Q(enqueued_times__gte=times))
    return over


def _enqueue_again(pk: int, run: UUID, epoch: int, times: int) -> int:
    """Of several sweepers, the one whose update counts asks.

    Numbers tell whether someone was faster. A moment would not: SQLite's own clock writes fewer digits than we do, so
    a row that was asked for by a sweep would never again equal what was read from it."""
    changed = Run.objects.filter(pk=pk, epoch=epoch, enqueued_times=times).update(
        enqueued_at=Now(), enqueued_times=times + 1
    )
    if changed:
        outbox.enqueue(str(run))
    return changed


def queue_decided() -> int:
    """Waiting runs that have something to do: a decision that was not taken up, a wish to end, or the
    end of the emergency stop that held them."""
    taken_up = Approval.objects.filter(run=OuterRef("pk"), taken_at=None).exclude(status=Approval.Status.PENDING)
    answers = CallAnswer.objects.filter(run=OuterRef("pk"), taken_at=None)
    wish = Q(cancel_requested_at__isnull=False) | (~Q(stop_after="") & Q(halt=None))
    over = Q(halt__ended_at__isnull=False)
    news = Q(held_at=None) & (Exists(taken_up) | Exists(answers))
    found = Run.objects.filter(status=Run.Status.WAITING).filter(news | wish | over)
    count = 0
    for run in found.order_by("pk")[:AT_MOST]:
        with transaction.atomic():
            journal.mark_queued(run, release=True)
        count += 1
    return count


def expire_approvals() -> int:
    """End the waits whose time is over; their runs go on with that."""
    over = Approval.objects.filter(status=Approval.Status.PENDING, expires_at__lte=Now())
    found = over.select_related("run__conversation", "call").order_by("expires_at", "pk")[:AT_MOST]
    return sum(map(_expire, found))


@transaction.atomic
def _expire(approval: Approval) -> int:
    """End one wait, unless a decision was faster. The run's row is locked first, as whoever decides does."""
    Run.objects.select_for_update().get(pk=approval.run_id)
    changed = Approval.objects.filter(pk=approval.pk, status=Approval.Status.PENDING).update(
        status=Approval.Status.EXPIRED, decided_at=Now()
    )
    if changed:
        journal.mark_queued(approval.run)
        outbox.touch(approval.run, cards=[card_of(approval)])
        outbox.inbox_changed(approval.run.conversation)
    return changed


def held_by(worker: WorkerProcess) -> list[tuple[int, int]]:
    """Row id and epoch of the runs that this worker holds."""
    held = Run.objects.filter(owner=worker, status=Run.Status.RUNNING)
    return list(held.values_list("pk", "epoch"))


def give_back(held: Collection[tuple[int, int]]) -> None:
    """Queue runs whose holder has let go of them without a word."""
    for pk, epoch in held:
        with transaction.atomic():
            run = Run.objects.filter(pk=pk).first()
            changed = Run.objects.filter(pk=pk, epoch=epoch, status=Run.Status.RUNNING).update(
                status=Run.Status.QUEUED, owner=None, queued_at=Now(), enqueued_at=Now()
            )
            if changed and run is not None:
                outbox.enqueue(str(run.public_id))


def forget_workers() -> None:
    """Drop the rows of workers that ended long ago."""
    WorkerProcess.objects.filter(beat_at__lt=Now() - GONE).delete()
