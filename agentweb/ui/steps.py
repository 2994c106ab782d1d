"""What stands in a run, one behind the other, and neighbouring calls that have ended told in one line."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.utils.translation import pgettext

from agentweb.engine.enums import CallStatus, ResultKind
from agentweb.runs.models import Call, Message
from agentweb.ui.calls import CallCard
from agentweb.ui.questions import QuestionCard

FEWEST = 2  # calls that make one line
CLEAR = frozenset(
    (
        ResultKind.OK,
        ResultKind.ANSWERED,
        ResultKind.ERROR,
        ResultKind.TIMEOUT,
        ResultKind.UNKNOWN_TOOL,
        ResultKind.INVALID_ARGUMENTS,
        ResultKind.DENIED,
    )
)
"""Results after which nobody has to look: the tool has worked, or it has not."""


@dataclass(frozen=True, slots=True)
class Item:
    """A message, a call or a question; one of them."""

    message: Message | None = None
    card: CallCard | None = None
    question: QuestionCard | None = None


@dataclass(frozen=True, slots=True)
class Steps:
    """Calls that have ended, with the silent messages between them. ``seconds``: how long any of them worked, what
    overlaps counted once; ``tools``: their labels in the order of their first calls, as "Read file ×3"."""

    items: Sequence[Item]
    number: int
    seconds: float
    tools: str
    failed: int


def folded(items: Iterable[Item]) -> list[Item | Steps]:
    """The same in the same order, with neighbouring calls that have ended as steps."""
    shown: list[Item | Steps] = []
    run: list[Item] = []  # begins with a call
    for item in items:
        if (item.card and has_ended(item.card)) or (run and item.message and is_silent(item.message)):
            run.append(item)
            continue
        shown += [*_together(run), item]
        run = []
    return shown + _together(run)


def has_ended(card: CallCard) -> bool:
    """Whether nothing is open about the call any more, and nothing about it needs an explanation."""
    is_asked = card.asks or (card.approval is not None and card.approval.open)
    return card.row.status == CallStatus.FINISHED and card.row.result_kind in CLEAR and not is_asked


def is_silent(message: Message) -> bool:
    """Whether the agent said nothing in it; it may have thought."""
    is_whole = message.role == Message.Role.ASSISTANT and message.status == Message.Status.FINISHED
    return is_whole and not message.text and not message.extra.get("invented")


def _together(run: list[Item]) -> list[Item | Steps]:
    last = max((index for index, item in enumerate(run) if item.card), default=-1)
    cards = [item.card for item in run if item.card]
    if len(cards) < FEWEST:
        return list(run)
    failed = sum(card.is_error for card in cards)
    steps = Steps(run[: last + 1], len(cards), _seconds(card.row for card in cards), _tools(cards), failed)
    return [steps, *run[last + 1 :]]


def _tools(cards: Iterable[CallCard]) -> str:
    counted = Counter(card.label for card in cards)
    return pgettext("between the items of a list", ", ").join(
        label if number == 1 else f"{label} ×{number}" for label, number in counted.items()
    )


def _seconds(calls: Iterable[Call]) -> float:
    total, until = 0.0, datetime.min.replace(tzinfo=UTC)
    for start, seconds in sorted((call.started_at, call.seconds) for call in calls if call.started_at):
        end = start + timedelta(seconds=seconds)
        total += max(0.0, (end - max(start, until)).total_seconds())
        until = max(until, end)
    return total
