"""The runs of a conversation as people see them, for those whom a selector has let through."""

from dataclasses import dataclass, field

from django.db.models import BigAutoField, Count, OuterRef, Prefetch, QuerySet, Subquery

from agentweb.engine.enums import CLOSED_CALLS
from agentweb.runs.deciders import mark
from agentweb.runs.long_results import with_ends
from agentweb.runs.models import Approval, Call, Conversation, Message, QueuedMessage, Run
from agentweb.runs.moment import as_of_one_moment
from agentweb.runs.selectors import answers_of_calls, approvals_of_calls, grants_of_calls, with_approval
from agentweb.teams import fixed

PAGE = 30  # messages that a page begins with, made up to whole runs

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


@dataclass(frozen=True, slots=True)
class Window:
    """Runs that follow each other, oldest first, and whether the conversation has ``older`` and ``newer`` ones."""

    views: list[RunView]
    older: bool
    newer: bool


@as_of_one_moment
def window(conversation: Conversation, *, before: int | None = None, since: int | None = None) -> Window:
    """The last messages, or those ``before`` a run or ``since`` one (row ids): as many as a page holds, made up to
    whole runs. What is read does not grow with the conversation, and neither does the number of queries."""
    if since is not None:
        chosen, newer = _page(conversation.runs.filter(pk__gte=since).order_by("pk"))
        if newer or since not in (last := _page(conversation.runs.order_by("-pk")))[0]:
            older = conversation.runs.filter(pk__lt=since).exists()
        else:
            chosen, older = last
    else:
        runs = conversation.runs.order_by("-pk")
        chosen, older = _page(runs if before is None else runs.filter(pk__lt=before))
        newer = before is not None and conversation.runs.filter(pk__gte=before).exists()
    return Window(_views(conversation, chosen), older, newer)


def _page(runs: QuerySet[Run]) -> tuple[list[int], bool]:
    """The first of these runs that make up a page, and whether more follow."""
    messages = Message.objects.filter(run=OuterRef("pk")).order_by().values("run").annotate(number=Count("pk"))
    rows = list(runs.annotate(said=Subquery(messages.values("number"))).values_list("pk", "said")[: PAGE + 1])
    chosen: list[int] = []
    total = 0
    for run, said in rows:
        if total >= PAGE:
            break
        chosen.append(run)
        total += said or 1
    return chosen, len(chosen) < len(rows)


def _views(conversation: Conversation, chosen: list[int]) -> list[RunView]:
    runs = conversation.runs.select_related("requested_by", "agent", "snapshot", "cancel_requested_by")
    found = runs.filter(pk__in=chosen).order_by("pk").prefetch_related(*_parts())
    views = [run_view(run, conversation) for run in found]
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
