"""What waits for a person: approvals and questions to decide about, and calls that only people can settle."""

from django.db.models import BigAutoField, Case, Count, Exists, F, OuterRef, QuerySet, Subquery, Value, When
from django.db.models.functions import Coalesce

from agentweb.registry.models import Risk
from agentweb.runs.deciders import by_right, decidable_by
from agentweb.runs.expiry import in_time
from agentweb.runs.models import Approval, Call, CallAnswer, Run
from agentweb.runs.moment import as_of_one_moment
from agentweb.runs.selectors import approvals_for, mark_decidable
from agentweb.teams import fixed
from agentweb.teams.models import User

_URGENCY = Case(*(When(risk=risk, then=Value(place)) for place, risk in enumerate(reversed(Risk))), default=Value(0))
ASKING = (Call.Status.SUSPENDED, Call.Status.UNKNOWN)


def approvals_waiting_for(user: User) -> QuerySet[Approval]:
    """The pending approvals that the person may decide, in time."""
    return approvals_for(user, status=Approval.Status.PENDING).filter(in_time(), decidable_by(user))


def calls_waiting_for(user: User) -> QuerySet[Call]:
    """The calls of which this person may give the result, or say what became of them, and nobody has yet."""
    by_office, as_member = by_right(user)
    return unsettled_calls().filter(by_office | as_member, run__conversation__deleted_at=None)


def unsettled_calls() -> QuerySet[Call]:
    """The calls of live runs that only people can settle, and nobody has."""
    answered = CallAnswer.objects.filter(call=OuterRef("pk"), taken_at=None)
    asking = Call.objects.filter(~Exists(answered), status__in=ASKING, run__cancel_requested_at=None)
    return asking.exclude(run__status=Run.Status.FINISHED)


def _counted(user: User) -> QuerySet[User]:
    """That one person, with the number of what waits as ``waiting``."""
    waiting = []
    for rows in (approvals_waiting_for(user), calls_waiting_for(user)):
        number = rows.order_by().values(all=Value(1)).annotate(number=Count("pk")).values("number")
        waiting.append(Coalesce(Subquery(number), 0))
    return User.objects.filter(pk=user).only("pk").annotate(waiting=sum(waiting, Value(0)))


_COUNTED = fixed.Query(_counted, user=BigAutoField())


def waiting_count(user: User) -> int:
    """How much waits for the person in all; one query."""
    return int(_COUNTED.first(user=user.pk).waiting)


@as_of_one_moment
def inbox(user: User, limit: int) -> tuple[list[Approval], list[Call]]:
    """The first of what waits, each knowing that the person may act on it; a constant number of queries.

    The riskiest approvals come first; of those, the ones with the least time left, then the oldest."""
    urgent = (_URGENCY, F("expires_at").asc(nulls_last=True), "pk")
    approvals = approvals_waiting_for(user).select_related("call__message").order_by(*urgent)[:limit]
    people = ("message", "run__conversation__team", "run__conversation__owner")
    calls = list(calls_waiting_for(user).select_related(*people).order_by("pk")[:limit])
    for call in calls:
        call.may_decide = True
    return mark_decidable(user, approvals), calls
