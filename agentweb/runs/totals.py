"""What was spent in a turn and in a whole conversation, from what stands with messages and runs."""

import json
from collections.abc import Iterable
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any

from django.db.models import Sum

from agentweb.engine.events import ModelRequested
from agentweb.engine.usage import Usage
from agentweb.runs.bounds import bounds_of
from agentweb.runs.models import Conversation, Message, Run

LATELY = 5  # requests among which the one for the last answer is looked for
COUNTED = tuple(field.name for field in fields(Usage))


@dataclass(frozen=True, slots=True)
class TurnTotals:
    """One turn of a run. Attempts that broke off and summaries that were made for it count too."""

    turn: int
    usage: Usage


def of_conversation(conversation: Conversation) -> Usage:
    """The totals of all its runs; one query."""
    sums = conversation.runs.aggregate(**{name: Sum(name) for name in COUNTED})
    return Usage(**{name: value or type(getattr(Usage(), name))(0) for name, value in sums.items()})


def of_turns(messages: Iterable[Message]) -> list[TurnTotals]:
    """By turn, from the messages of one run."""
    found: dict[int, Usage] = {}
    for message in messages:
        if message.usage:
            found[message.turn] = found.get(message.turn, Usage()) + stored(message.usage)
    return [TurnTotals(turn, found[turn]) for turn in sorted(found)]


@dataclass(frozen=True, slots=True)
class Window:
    """How full a model's window was after its last answer: ``tokens`` of the ``size`` that it has; ``estimated`` when
    nobody counted them."""

    tokens: int
    size: int
    estimated: bool

    @property
    def percent(self) -> int:
        return round(100 * self.tokens / self.size)


def window_after(run: Run, messages: Iterable[Message]) -> Window | None:
    """From the messages of the run, in order. None where the model said nothing, and where its size is not known."""
    answers = [row for row in messages if row.role == Message.Role.ASSISTANT and row.usage]
    if not answers or answers[-1].status != Message.Status.FINISHED:
        return None
    size = bounds_of(run).windows.get(_model_of(run, answers[-1]), 0)
    usage = stored(answers[-1].usage)
    tokens = usage.input_tokens + usage.output_tokens
    return Window(tokens, size, bool(usage.estimated_calls)) if size and tokens else None


def _model_of(run: Run, message: Message) -> str:
    """Another one than the agent's own may have answered."""
    requests = run.events.filter(kind=ModelRequested.__name__).order_by("-number").values_list("payload", flat=True)
    read = (json.loads(payload) for payload in requests[:LATELY])
    return next((data["model"] for data in read if data["message"] == str(message.public_id)), "")


def stored(usage: dict[str, Any]) -> Usage:
    """As it was written into a row."""
    return Usage(**{**usage, "cost": Decimal(usage["cost"])})
