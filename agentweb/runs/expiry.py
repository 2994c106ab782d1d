"""How long people may decide. A wait that is over is an end of its own: nobody has rejected anything."""

from datetime import datetime, timedelta

from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone

from agentweb.engine.terms import Terms
from agentweb.runs.models import Approval


def end_of_wait(terms: Terms | None, asked: datetime) -> datetime | None:
    """When an approval expires that was asked for at this moment; None: never."""
    minutes = terms.wait_minutes if terms else 0
    return asked + timedelta(minutes=minutes) if minutes else None


def is_overdue(approval: Approval) -> bool:
    """Whether a pending approval's time is over, also before a sweep has closed it."""
    pending = approval.status == Approval.Status.PENDING
    return pending and approval.expires_at is not None and approval.expires_at <= timezone.now()


def in_time() -> Q:
    """The approvals whose time is not over."""
    return Q(expires_at=None) | Q(expires_at__gt=Now())
