"""What was spent in a turn and in a whole conversation, from what stands with messages and runs."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from decimal import Decimal
from typing import Any

from django.db.models import Sum

from agentweb.engine.usage import Usage
from agentweb.runs.models import Conversation, Message

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


def stored(usage: dict[str, Any]) -> Usage:
    """As it was written into a row."""
    return Usage(**{**usage, "cost": Decimal(usage["cost"])})
