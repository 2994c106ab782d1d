"""The list of conversations as the page shows it: filtered, in pages, each with the state of its last run."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from agentweb.runs import selectors
from agentweb.runs.models import Approval, Conversation, Run, Visibility
from agentweb.runs.waiting import unsettled_calls
from agentweb.teams.models import User
from agentweb.ui import searching
from agentweb.ui.addresses import place
from agentweb.ui.states import State, listed_state, matters_of

PAGE = 40
FILTERS = (
    ("all", _("All")),
    ("mine", _("Mine")),
    ("team", _("Team")),
    ("waiting", _("Waiting")),
    ("archived", pgettext_lazy("a group of conversations", "Archived")),
)


@dataclass(frozen=True, slots=True)
class Row:
    conversation: Conversation
    state: State
    current: bool
    found: searching.Found | None = None

    @property
    def address(self) -> str:
        """Of the message that was searched for, or of the conversation."""
        return place(self.conversation, self.found.anchor if self.found else "")


@dataclass(frozen=True, slots=True)
class Listing:
    """``next`` is the cursor of the following page, or empty; ``query`` what was searched for."""

    rows: list[Row]
    show: str
    query: str
    next: str
    first: bool
    filters = FILTERS


def listing(user: User, *, show: str = "all", query: str = "", before: str = "", current: str = "") -> Listing:
    """One page of the person's conversations in a constant number of queries. A cursor that is none is ignored."""
    show = show if show in dict(FILTERS) else "all"
    query = searching.cleaned(query)
    rows = searching.matching(_stated(_filtered(user, show, bool(query))), query)
    cursor = read_cursor(before)
    if cursor:
        rows = rows.filter(Q(active_at__lt=cursor[0]) | Q(active_at=cursor[0], pk__lt=cursor[1]))
    found = list(rows.order_by("-active_at", "-pk")[: PAGE + 1])
    more = len(found) > PAGE
    said = searching.excerpts((row.said for row in found if row.said), query) if query and found else {}
    return Listing(
        rows=[_row(conversation, current, said) for conversation in found[:PAGE]],
        show=show,
        query=query,
        next=write_cursor(found[PAGE - 1]) if more else "",
        first=not cursor,
    )


def _filtered(user: User, show: str, searched: bool) -> QuerySet[Conversation]:
    """What is archived is in its own group, found where words are searched for, and never hidden while it waits."""
    seen = selectors.conversations_for(user)
    if show == "archived":
        return seen.exclude(archived_at=None)
    if not searched and show != "waiting":
        seen = seen.filter(archived_at=None)
    if show == "mine":
        return seen.filter(owner=user)
    if show == "team":
        return seen.filter(visibility=Visibility.TEAM)
    if show == "waiting":
        calls = unsettled_calls().filter(run__conversation=OuterRef("pk"))
        return seen.filter(Exists(_open_approvals()) | Exists(calls))
    return seen


def _open_approvals() -> QuerySet[Approval]:
    return Approval.objects.filter(run__conversation=OuterRef("pk"), status=Approval.Status.PENDING)


def _stated(rows: QuerySet[Conversation]) -> QuerySet[Conversation]:
    last = Run.objects.filter(conversation=OuterRef("pk")).order_by("-pk")
    return rows.annotate(
        last_status=Subquery(last.values("status")[:1]),
        last_outcome=Subquery(last.values("outcome")[:1]),
        last_cancel=Subquery(last.values("cancel_requested_at")[:1]),
        **matters_of(run__conversation=OuterRef("pk")),
    )


def _row(conversation: Any, current: str, said: Mapping[int, searching.Found]) -> Row:
    last = (conversation.last_status, conversation.last_outcome, bool(conversation.last_cancel))
    state = listed_state(*last, conversation.asks, conversation.open_call)
    found = said.get(conversation.said) if said else None
    return Row(conversation, state, str(conversation.public_id) == current, found)


def write_cursor(conversation: Conversation) -> str:
    return f"{conversation.active_at.isoformat()}~{conversation.pk}"


def read_cursor(text: str) -> tuple[datetime, int] | None:
    """The place after which a page begins; None for text that is no cursor."""
    moment, _tilde, number = text.partition("~")
    try:
        at = parse_datetime(moment)
        if at is None or at.tzinfo is None:
            return None
        at = at.astimezone(UTC)
    except (ValueError, OverflowError):  # the first and the last day of the calendar have no UTC
        return None
    if not (number.isascii() and number.isdigit() and len(number) < 19):
        return None
    return at, int(number)
