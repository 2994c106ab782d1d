"""The runs of a conversation as people see them, for those whom a selector has let through."""

from dataclasses import dataclass, field

from django.db.models import BigAutoField, Prefetch

from agentweb.engine.enums import CLOSED_CALLS
from agentweb.runs.deciders import mark
from agentweb.runs.long_results import with_ends
from agentweb.runs.models import Approval, Call, Conversation, Message, QueuedMessage, Run
from agentweb.runs.moment import as_of_one_moment
from agentweb.runs.selectors import answers_of_calls, approvals_of_calls, grants_of_calls, with_approval
from agentweb.teams import fixed

_OPEN = fixed.Query(
    lambda run: Call.objects.filter(run=run).exclude(status__in=CLOSED_CALLS).only("name", "status", "run"),
    run=BigAutoField(),
)
_ASKED = fixed.Query(
    lambda run: Approval.objects.filter(run=run, call=None, status=Approval.Status.PENDING).order_by("pk"),
    run=BigAutoField(),
)
_INBOX = fixed.Query(
    lambda run: QueuedMessage.objects.select_related("author").filter(run=run),
    run=BigAutoField(),
)


@dataclass(slots=True)
class RunView:
    """One run as the page shows it: messages in order, each with ``shown_calls``, all ``calls`` (at least those that
    are open), what people were asked about the run itself, and what waits in its inbox."""

    run: Run
    entries: list[Message] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    questions: list[Approval] = field(default_factory=list)
    queue: list[QueuedMessage] = field(default_factory=list)


@as_of_one_moment
def timeline(conversation: Conversation, *, before: int | None = None, limit: int = 30) -> list[RunView]:
    """The last ``limit`` runs (before the run with that row id), oldest first; a constant number of queries."""
    runs = conversation.runs.select_related("requested_by", "agent", "snapshot", "cancel_requested_by")
    if before is not None:
        runs = runs.filter(pk__lt=before)
    views = [run_view(run, conversation) for run in reversed(runs.prefetch_related(*_parts())[:limit])]
    _mark(conversation, views)
    return views


def run_view(run: Run, conversation: Conversation) -> RunView:
    """One run with its parts; queries only what is not prefetched yet."""
    entries = list(run.messages.all())
    for message in entries:
        message.conversation = conversation
        message.shown_calls = [with_approval(call, run, conversation) for call in message.calls.all()]
    for question in run.questions:
        question.run = run
    run.conversation = conversation
    calls = [call for message in entries for call in message.shown_calls]
    return RunView(run, entries, calls, run.questions, list(run.queue.all()))


@as_of_one_moment
def whole_run(run: Run) -> RunView:
    """``run_view`` for a run that ``run_for`` has let through."""
    found = Run.objects.select_related("requested_by", "agent", "snapshot").prefetch_related(*_parts()).get(pk=run.pk)
    view = run_view(found, run.conversation)
    _mark(run.conversation, [view])
    return view


def foot_of(run: Run) -> RunView:
    """What the footer of a run that ``run_for`` has just let through is made of; never more for a longer run."""
    questions = _ASKED.all(run=run.pk) if run.status == Run.Status.WAITING else []
    for question in questions:
        question.run = run
    mark(run.conversation.seen_by, questions)
    return RunView(run, [], _OPEN.all(run=run.pk) if run.live else [], questions, _INBOX.all(run=run.pk))


def _mark(conversation: Conversation, views: list[RunView]) -> None:
    """Let all approvals know what the person may do about them who looks at the conversation."""
    asked = [call.approval for view in views for call in view.calls if call.approval is not None]
    mark(conversation.seen_by, [*asked, *(question for view in views for question in view.questions)])


def _parts() -> tuple[Prefetch, ...]:
    calls = with_ends(Call.objects.prefetch_related(approvals_of_calls(), answers_of_calls(), grants_of_calls()))
    questions = Approval.objects.filter(call=None).select_related("decided_by")
    return (
        Prefetch("messages", Message.objects.select_related("author").prefetch_related(Prefetch("calls", calls))),
        Prefetch("approvals", questions.order_by("pk"), to_attr="questions"),
        Prefetch("queue", QueuedMessage.objects.select_related("author")),
    )
