"""What is left of a budget, what the next turn will cost, and when people are asked, as tables."""

from decimal import Decimal

import pytest

from agentweb.engine.budgets import (
    FURTHEST,
    Budget,
    Grant,
    amount,
    forecast,
    turns_left,
    updated,
    used_up,
    worth_asking,
)
from agentweb.engine.enums import Unit
from agentweb.engine.usage import Usage


def budget(spent: str, *grants: tuple[str, str], limit: str = "1000", share: str | None = "0.8", unit=Unit.TOKENS):
    given = tuple(Grant(Decimal(more), Decimal(at)) for more, at in grants)
    part = Decimal(share) if share else None
    return Budget("1", "p", unit, Decimal(limit), part, Decimal(spent), given)


def call(input: int, output: int = 10, cost: str = "0", seconds: float = 1.0) -> Usage:
    return Usage(input_tokens=input, output_tokens=output, cost=Decimal(cost), seconds=seconds)


ASKS = [
    ("much is left", budget("799"), False),
    ("the soft limit is reached", budget("800"), True),
    ("nobody is ever asked", budget("999", share=None), False),
    ("people granted more", budget("801", ("1000", "800")), False),
    ("most of what they granted is gone", budget("1760", ("1000", "800")), True),
    ("a bit before that", budget("1759", ("1000", "800")), False),
    ("they granted twice", budget("1800", ("1000", "800"), ("1000", "1760")), False),
    ("they granted nothing more", budget("999", ("0", "800")), False),
    ("they granted nothing more after something", budget("1999", ("1000", "800"), ("0", "1800")), False),
]


@pytest.mark.parametrize(("one", "asked"), [case[1:] for case in ASKS], ids=[case[0] for case in ASKS])
def test_people_are_asked_when_a_share_of_what_was_left_is_spent(one: Budget, asked: bool) -> None:
    assert (worth_asking([one], []) is one) == asked


@pytest.mark.parametrize(
    ("one", "left", "gone"),
    [
        (budget("0"), "1000", False),
        (budget("999"), "1", False),
        (budget("1000"), "0", True),
        (budget("1200"), "0", True),
        (budget("1200", ("500", "900")), "300", False),
        (budget("1.5", limit="1.5", unit=Unit.COST), "0", True),
    ],
)
def test_a_budget_is_used_up_when_nothing_is_left_of_limit_and_grants(one: Budget, left: str, gone: bool) -> None:
    assert one.left == Decimal(left)
    assert (used_up([budget("0"), one]) is one) == gone


def test_what_is_not_recorded_yet_counts_too() -> None:
    tokens, money, time = (budget("900", unit=unit) for unit in Unit)
    spent = Usage(input_tokens=90, output_tokens=10, thinking_tokens=9, cost=Decimal("0.5"), seconds=2.5)
    assert [one.spent for one in updated([tokens, money, time], spent)] == [1000, Decimal("900.5"), Decimal("902.5")]


@pytest.mark.parametrize(
    ("calls", "tokens"),
    [
        ([], 0),
        ([call(100, 20)], 140),  # once more, with what it said, and as much again
        ([call(100), call(200), call(300)], 410),  # it grows by 100
        ([call(100), call(400), call(400), call(400), call(400)], 410),  # it no longer grows
        ([call(900), call(100)], 110),  # it was folded: a context does not shrink at each turn
    ],
)
def test_the_next_turn_is_foretold_from_how_the_context_grows(calls: list[Usage], tokens: int) -> None:
    assert amount(forecast(calls), Unit.TOKENS) == tokens


def test_its_price_and_time_are_those_of_the_calls_so_far() -> None:
    told = forecast([call(90, 10, "0.10", 1.0), call(190, 10, "0.20", 3.0)])
    assert (told.input_tokens, told.output_tokens) == (290, 10)
    assert amount(told, Unit.COST) == Decimal("0.300")
    assert amount(told, Unit.SECONDS) == 2


def test_people_are_asked_before_a_turn_that_will_not_fit() -> None:
    growing = [call(100), call(200), call(300)]
    assert worth_asking([budget("590")], growing) is None
    assert worth_asking([budget("591")], growing) == budget("591")
    assert worth_asking([budget("591", share=None)], growing) is None


@pytest.mark.parametrize(
    ("spent", "calls", "turns"),
    [
        ("0", [], None),
        ("0", [call(100, 0), call(200, 0)], 2),  # 300 + 400
        ("300", [call(100, 0), call(200, 0)], 2),
        ("301", [call(100, 0), call(200, 0)], 1),
        ("1000", [call(100, 0), call(200, 0)], 0),
        ("0", [call(1, 0), call(1, 0)], FURTHEST),
    ],
)
def test_how_many_more_turns_fit(spent: str, calls: list[Usage], turns: int | None) -> None:
    assert turns_left(budget(spent), calls) == turns


def test_what_is_offered_is_a_quarter_of_the_limit() -> None:
    assert budget("0", limit="1001").offer == 250
    assert budget("0", limit="2").offer == 1
    assert budget("0", limit="0.5", unit=Unit.COST).offer == Decimal("0.125")
