"""Runs, messages and calls as the page shows them to one person."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from django.utils.functional import Promise
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

from agentweb.engine.enums import Reason, StopAfter
from agentweb.runs.bounds import bounds_of
from agentweb.runs.models import Call, Message, QueuedMessage, Run
from agentweb.runs.rights import Rights
from agentweb.runs.timeline import RunView
from agentweb.ui import reasons
from agentweb.ui.calls import CallCard, call_card, labels
from agentweb.ui.goals import GoalLine, goal_lines
from agentweb.ui.questions import is_open, question_card
from agentweb.ui.states import State, run_state
from agentweb.ui.steps import Item, Steps, folded

STOPS = (
    (StopAfter.REASONING.value, _("After the next thought, before tools run")),
    (StopAfter.ACTING.value, _("After the tools of this turn")),
)
STOPPING = {
    StopAfter.REASONING: _("The run stops after the next thought, before tools run."),
    StopAfter.ACTING: _("The run stops after the tools of this turn."),
}
SHOWN_QUEUE = (QueuedMessage.Status.QUEUED, QueuedMessage.Status.RETURNED)


@dataclass(frozen=True, slots=True)
class RunPart:
    """One run. Everything that may be done with it is decided here, never in a template. ``more_turns``: with so many
    it can be continued; 0 when it cannot. ``most_turns``: of a run that goes on, so many at most; else 0."""

    run: Run
    items: list[Item | Steps]
    queue: list[QueuedMessage]
    state: State
    sentence: str
    error: str
    error_recorded: str
    stopping_after: str | Promise
    may_write: bool
    may_cancel: bool
    may_retry: bool
    may_resume: bool
    newest: bool
    more_turns: int
    most_turns: int
    goals: list[GoalLine]
    stops = STOPS

    @property
    def asks(self) -> bool:
        """Somebody must say whether the run may go on at all."""
        return any(isinstance(item, Item) and item.question and item.question.open for item in self.items)

    @property
    def queue_waits(self) -> bool:
        """What people wrote cannot be read now, since the run waits for somebody."""
        queued = any(each.status == QueuedMessage.Status.QUEUED for each in self.queue)
        return queued and self.run.status == Run.Status.WAITING


def run_parts(views: Iterable[RunView], *, may: Rights, latest: Run | None) -> list[RunPart]:
    """The runs with their cards; one query for the labels of all tools."""
    views = list(views)
    names = labels(call for view in views for call in view.calls)
    return [_run_part(view, names, may, latest) for view in views]


def _run_part(view: RunView, names: dict[str, str], may: Rights, latest: Run | None) -> RunPart:
    run = view.run
    items = _items(view, names)
    unanswered = not run.live and run.outcome not in (Run.Outcome.ANSWERED, Run.Outcome.LIMIT_REACHED)
    is_latest = latest is not None and latest.pk == run.pk
    may_continue = may.write and is_latest and run.outcome == Run.Outcome.LIMIT_REACHED
    return RunPart(
        run=run,
        items=list(items) if run.live else folded(items),
        queue=[queued for queued in view.queue if queued.status in SHOWN_QUEUE],
        state=run_state(run, view.calls, names, asks=any(map(is_open, view.questions))),
        sentence=reasons.sentence(run.reason) if run.reason != Reason.DONE else "",
        error=fault(run),
        error_recorded=recorded_fault(run) if speaks_otherwise() else "",
        stopping_after=STOPPING.get(run.stop_after, "") if run.live else "",
        may_write=may.write,
        may_cancel=may.cancel and run.live and not run.cancel_requested_at,
        may_retry=may.write and unanswered and is_latest,
        newest=is_latest or run.live,
        may_resume=may.decide and run.held_at is not None and run.halt_id is None,
        more_turns=run.agent.max_turns if may_continue else 0,
        most_turns=bounds_of(run).turns if run.live and run.turns else 0,
        goals=goal_lines(run.goals),
    )


def _items(view: RunView, names: dict[str, str]) -> list[Item]:
    """Each message with its calls, and each question behind the last message before it."""
    questions = sorted(view.questions, key=lambda question: question.created_at)
    items: list[Item] = []
    for message in view.entries:
        while questions and questions[0].created_at < message.created_at:
            items.append(Item(question=question_card(questions.pop(0))))
        items.append(Item(message))
        items += [Item(card=card) for card in cards_of(message, names)]
    return [*items, *(Item(question=question_card(question)) for question in questions)]


def cards_of(message: Message, names: dict[str, str]) -> list[CallCard]:
    return [one_card(call, message, names) for call in message.shown_calls]


def one_card(call: Call, message: Message, names: dict[str, str]) -> CallCard:
    return replace(call_card(call, names), claim=claim(message))


def claim(message: Message) -> str:
    """What the model said when it asked for its tools; a sentence of its thoughts where it said nothing."""
    if message.text.strip():
        return message.text.strip()[:1000]
    thoughts = [line for line in message.thinking.strip().splitlines() if line.strip()]
    return thoughts[-1].strip()[:1000] if thoughts else ""


def fault(run: Run) -> str:
    """What a failed run says about its error: the recorded words, or a sentence in the viewer's other language."""
    if speaks_otherwise() and isinstance(run.error, dict):
        return reasons.fault(str(run.error.get("kind", "")))
    return recorded_fault(run)


def recorded_fault(run: Run) -> str:
    """In English, with all that the model server said."""
    return str(run.error.get("message", "")) if isinstance(run.error, dict) else ""


def speaks_otherwise() -> bool:
    """Whether the viewer reads another language than that of the record."""
    return not (get_language() or "en").startswith("en")
