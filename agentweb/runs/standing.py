"""How the site stands: what waits, what is stuck, who works. A few queries, however much there is."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import BooleanField, Count, ExpressionWrapper, Min, Q
from django.db.models.functions import Now

from agentweb.runs.models import Approval, Run, WorkerProcess

LATE = timedelta(minutes=1)  # longer in the queue than this, and too few workers are free
OFTEN = 2  # claims without progress: the run has cost a worker, or was let go of, before it got anywhere
MOST_WORKERS = 30
MOST_FAILURES = 5
LOOKED_THROUGH = 2_000  # runs, for those that failed: where none did, the whole table would be read


@dataclass(frozen=True, slots=True)
class Approvals:
    """Those that wait, and since when the oldest does."""

    count: int
    oldest: datetime | None


@dataclass(frozen=True, slots=True)
class Runs:
    """How many runs are in each state, and how many of them do not get on."""

    queued: int
    running: int
    waiting: int
    late: int
    lost: int
    often: int
    held: int


def late() -> Q:
    """Runs that nobody has taken for long."""
    return Q(status=Run.Status.QUEUED, queued_at__lt=Now() - LATE)


def lost() -> Q:
    """Runs whose worker is silent for longer than its lease."""
    silent = Q(owner=None) | Q(owner__beat_at__lt=_lease_begin())
    return Q(status=Run.Status.RUNNING) & silent


def often() -> Q:
    """Live runs that were claimed again and again without getting anywhere."""
    return ~Q(status=Run.Status.FINISHED) & Q(attempts__gte=OFTEN)


def held() -> Q:
    """Runs that lost their worker, and that a person must let go on."""
    return Q(status=Run.Status.WAITING, held_at__isnull=False, halt=None)


def approvals() -> Approvals:
    pending = Approval.objects.filter(status=Approval.Status.PENDING)
    return Approvals(**pending.aggregate(count=Count("pk"), oldest=Min("created_at")))


def stranded() -> int:
    """How many pending approvals nobody is left to decide who is named."""
    return Approval.objects.filter(status=Approval.Status.PENDING, terms__stranded=True).count()


def runs() -> Runs:
    live = Run.objects.filter(status__in=(Run.Status.QUEUED, Run.Status.RUNNING, Run.Status.WAITING))
    kinds = {
        "queued": Q(status=Run.Status.QUEUED),
        "running": Q(status=Run.Status.RUNNING),
        "waiting": Q(status=Run.Status.WAITING),
        "late": late(),
        "lost": lost(),
        "often": often(),
        "held": held(),
    }
    return Runs(**live.order_by().aggregate(**{name: Count("pk", filter=which) for name, which in kinds.items()}))


def workers() -> list[WorkerProcess]:
    """The youngest first, each with ``alive`` and with ``held``, the number of runs that it works on."""
    alive = ExpressionWrapper(Q(beat_at__gte=_lease_begin()), output_field=BooleanField())
    held = Count("runs", filter=Q(runs__status=Run.Status.RUNNING))
    return list(WorkerProcess.objects.annotate(alive=alive, held=held).order_by("-started_at", "-pk")[:MOST_WORKERS])


def failures() -> list[Run]:
    """The runs that failed last, among those that are not old."""
    recent = Run.objects.order_by("-pk").values("pk")[:LOOKED_THROUGH]
    found = Run.objects.filter(outcome=Run.Outcome.FAILED, pk__in=recent).select_related("agent", "requested_by")
    return list(found.order_by("-pk")[:MOST_FAILURES])


def _lease_begin():
    return Now() - timedelta(seconds=settings.LEASE_SECONDS)
