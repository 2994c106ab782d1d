"""How a run stands, for its footer and for the list of conversations: one word, one icon, one colour."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import Exists, OuterRef, Subquery
from django.utils import timezone
from django.utils.translation import gettext as _

from agentweb.engine.enums import CallStatus
from agentweb.runs.models import Approval, Call, Run
from agentweb.ui import reasons

FOR_PEOPLE = (CallStatus.WAITING, CallStatus.UNKNOWN, CallStatus.SUSPENDED)  # only they get on with such calls
PATIENCE = timedelta(seconds=3)  # longer in the queue than this, and no worker seems to be free


@dataclass(frozen=True, slots=True)
class State:
    """``css`` is one of live, waiting, failed, ok or empty."""

    word: str
    icon: str
    css: str


def run_state(run: Run, calls: list[Call], labels: Mapping[str, str], *, asks: bool = False) -> State:
    """The state of a run whose calls are at hand; ``labels`` by tool name. ``asks``: people must say how it goes on."""
    if run.status == Run.Status.FINISHED:
        return finished_state(run.outcome)
    if run.cancel_requested_at:
        return State(_("Stopping…"), "loader-circle", "live")
    if run.status == Run.Status.QUEUED:
        return queued_state(run)
    if run.halt_id:
        return State(_("Held by an emergency stop"), "ban", "waiting")
    if run.held_at:
        return State(_("Waiting: its worker was lost"), "circle-pause", "waiting")
    if run.status == Run.Status.WAITING:
        return waiting_state({call.status for call in calls}, asks=asks)
    if running := next((call for call in calls if call.status == CallStatus.STARTED), None):
        tool = _(labels[running.name]) if running.name in labels else running.name
        return State(_("Running tool: %(tool)s…") % {"tool": tool}, "loader-circle", "live")
    return State(_("Thinking…"), "loader-circle", "live")


def queued_state(run: Run) -> State:
    since = run.queued_at or run.created_at
    late = timezone.now() - since > PATIENCE
    word = _("Queued, waits for a free worker") if late else _("Queued")
    return State(word, "clock", "waiting" if late else "")


def waiting_state(statuses: set[str], *, asks: bool = False) -> State:
    if asks:
        return State(_("Waiting for a decision"), "circle-pause", "waiting")
    if CallStatus.WAITING in statuses:
        return State(_("Waiting for approval"), "circle-pause", "waiting")
    if CallStatus.UNKNOWN in statuses:
        return State(_("Waiting: the outcome of a tool is unknown"), "circle-help", "waiting")
    if CallStatus.SUSPENDED in statuses:
        return State(_("Waiting for input"), "circle-pause", "waiting")
    return State(_("Waiting"), "circle-pause", "waiting")


def finished_state(outcome: str) -> State:
    css = {Run.Outcome.ANSWERED: "ok", Run.Outcome.FAILED: "failed"}.get(outcome, "")
    return State(reasons.outcome_word(outcome), reasons.OUTCOME_ICONS.get(outcome, "circle-check"), css)


def matters_of(**which: OuterRef) -> dict[str, Exists | Subquery]:
    """What `listed_state` must know of each row of a list, to annotate it with; ``which`` finds the runs of a row."""
    questions = Approval.objects.filter(call=None, status=Approval.Status.PENDING, **which)
    calls = Call.objects.filter(status__in=FOR_PEOPLE, run__status=Run.Status.WAITING, run__halt=None, **which)
    return {"asks": Exists(questions), "open_call": Subquery(calls.order_by("-status").values("status")[:1])}


def listed_state(status: str | None, outcome: str | None, cancelling: bool, asks: bool, open_call: str | None) -> State:
    """The state of a run or of a conversation in a list, from its columns and the two of `matters_of`."""
    if not status:
        return State(_("Empty"), "circle-dashed", "")
    if status == Run.Status.FINISHED:
        return finished_state(outcome or "")
    if cancelling:
        return State(_("Stopping…"), "loader-circle", "live")
    if status == Run.Status.WAITING:
        return waiting_state({open_call} if open_call else set(), asks=asks)
    if status == Run.Status.QUEUED:
        return State(_("Queued"), "clock", "")
    return State(_("Working"), "loader-circle", "live")
