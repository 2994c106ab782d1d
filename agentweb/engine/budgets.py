"""Budgets: what may still be spent, what the next turn will probably cost, and when people are asked. Pure arithmetic.

Amounts are counted in the budget's own unit: tokens (in and out), money, or seconds of work.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from itertools import pairwise

from agentweb.engine.enums import Unit
from agentweb.engine.usage import Usage

NOTHING = Decimal(0)
LOOKED_BACK = 4  # model calls that say how fast the context grows
FURTHEST = 50  # turns
OFFERED = Decimal("0.25")  # of the limit


@dataclass(frozen=True, slots=True)
class Grant:
    """People let it go on with so much more (perhaps nothing more) when so much was spent."""

    amount: Decimal
    spent: Decimal


@dataclass(frozen=True, slots=True)
class Budget:
    """A ceiling on what runs may spend together in a period.

    ``spent`` is what is recorded, that of this run included. People are asked once ``share`` of what is left has been
    spent (None: never), counted from the beginning and again from each grant; who grants nothing more is not asked
    again. ``id`` and ``pot`` name the budget and the period of whom it is about; ``names`` are for people."""

    id: str
    pot: str
    unit: Unit
    limit: Decimal
    share: Decimal | None
    spent: Decimal
    grants: tuple[Grant, ...] = ()
    names: tuple[tuple[str, str], ...] = ()
    admins: bool = True

    @property
    def ceiling(self) -> Decimal:
        return self.limit + sum((grant.amount for grant in self.grants), NOTHING)

    @property
    def left(self) -> Decimal:
        return max(NOTHING, self.ceiling - self.spent)

    @property
    def asks_at(self) -> Decimal | None:
        """What must have been spent before people are asked."""
        last = self.grants[-1] if self.grants else Grant(self.limit, NOTHING)
        if self.share is None or not last.amount:
            return None
        return last.spent + self.share * (self.ceiling - last.spent)

    @property
    def offer(self) -> Decimal:
        """How much more is proposed when people are asked."""
        offer = self.limit * OFFERED
        return offer if self.unit is Unit.COST else max(Decimal(1), offer.to_integral_value())


def amount(usage: Usage, unit: Unit) -> Decimal:
    match unit:
        case Unit.TOKENS:
            return Decimal(usage.input_tokens + usage.output_tokens)
        case Unit.COST:
            return usage.cost
        case Unit.SECONDS:
            return Decimal(str(round(usage.seconds, 3)))


def plain(value: Decimal) -> str:
    """An amount as text, without an exponent and without zeros that say nothing."""
    return format(value.normalize(), "f")


def number(value: Decimal) -> int | float:
    """An amount as JSON has it."""
    return int(value) if value == value.to_integral_value() else float(value)


def updated(budgets: Iterable[Budget], unrecorded: Usage) -> list[Budget]:
    """The budgets with what was spent and is not recorded yet."""
    return [replace(one, spent=one.spent + amount(unrecorded, one.unit)) for one in budgets]


def used_up(budgets: Iterable[Budget]) -> Budget | None:
    """The first budget of which nothing is left."""
    return next((one for one in budgets if not one.left), None)


def worth_asking(budgets: Iterable[Budget], calls: Sequence[Usage]) -> Budget | None:
    """The first budget about which people must be asked, since much of it is gone or the next turn would not fit."""
    return next((one for one in budgets if _asks(one, calls)), None)


def _asks(budget: Budget, calls: Sequence[Usage]) -> bool:
    if budget.asks_at is None:
        return False
    return budget.spent >= budget.asks_at or amount(forecast(calls), budget.unit) > budget.left


def forecast(calls: Sequence[Usage]) -> Usage:
    """What the next turn will probably cost, from the model calls of the run so far (the oldest first).

    Each call reads the whole context, so the next one reads what the last one did and what has been added since, which
    is as much as on average before. Without any call nothing is known, and nothing foretold."""
    recent = calls[-LOOKED_BACK:]
    if not recent:
        return Usage()
    last = recent[-1]
    steps = [max(0, after.input_tokens - before.input_tokens) for before, after in pairwise(recent)]
    growth = sum(steps) // len(steps) if steps else last.output_tokens
    output = sum(one.output_tokens for one in recent) // len(recent)
    tokens = last.input_tokens + growth + output
    known = sum(one.input_tokens + one.output_tokens for one in recent)
    price = sum((one.cost for one in recent), NOTHING) / known if known else NOTHING
    return Usage(
        input_tokens=last.input_tokens + growth,
        output_tokens=output,
        cost=price * tokens,
        seconds=sum(one.seconds for one in recent) / len(recent),
    )


def turns_left(budget: Budget, calls: Sequence[Usage]) -> int | None:
    """How many more turns fit, FURTHEST at most; None when nothing is known about what turns cost."""
    if not calls:
        return None
    told, left = list(calls), budget.left
    for turn in range(FURTHEST):
        following = forecast(told)
        left -= amount(following, budget.unit)
        if left < 0:
            return turn
        told.append(following)
    return FURTHEST
