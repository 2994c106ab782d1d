"""Calls that have ended, told in one line."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from agentweb.runs.models import Approval, Call, Message
from agentweb.ui.calls import ApprovalPart, CallCard
from agentweb.ui.steps import Item, Steps, folded

BEGIN = datetime(2026, 12, 1, tzinfo=UTC)
SILENT = Message(role="assistant", thinking="Hm.")
SAID = Message(role="assistant", text="Now the other one.")


def card(label: str = "Read file", *, at: float = 0, seconds: float = 1, kind: str = "ok", status: str = "finished"):
    row = Call(status=status, result_kind=kind, seconds=seconds, started_at=BEGIN + timedelta(seconds=at))
    bad = kind not in ("ok", "answered")
    return CallCard(row, label, "", "", "", "", "", [], "", None, is_error=bad)


def asked() -> CallCard:
    """It is finished, and yet somebody is asked about it."""
    row = Approval(status="pending")
    part = ApprovalPart(row, "", "", "", [], "", [], [], may_decide=False, decided=None, suspicious=False)
    return replace(card(), approval=part)


def shape(*parts: Message | CallCard) -> list[int]:
    """How many items each thing on the page holds; 0: one that stands by itself."""
    items = [Item(card=part) if isinstance(part, CallCard) else Item(part) for part in parts]
    shown = folded(items)
    flat = [each for one in shown for each in (one.items if isinstance(one, Steps) else [one])]
    assert flat == items, "nothing is lost and nothing changes its place"
    return [len(one.items) if isinstance(one, Steps) else 0 for one in shown]


@pytest.mark.parametrize(
    ("parts", "expected"),
    [
        ([SILENT, card()], [0, 0]),
        ([SILENT, card(), card()], [0, 2]),
        ([SAID, card(), SILENT, card(), SILENT, card(), SAID], [0, 5, 0]),
        ([card(), card(), SILENT], [2, 0]),
        ([card(), SAID, card()], [0, 0, 0]),
        ([card(), Message(role="user", text=""), card()], [0, 0, 0]),
        ([card(), Message(role="assistant", status="interrupted"), card()], [0, 0, 0]),
        ([card(), Message(role="assistant", extra={"invented": {"text": "x"}}), card()], [0, 0, 0]),
        ([card(), card(), card(status="waiting", kind=""), card(), card()], [2, 0, 2]),
        ([card(), card(), asked()], [2, 0]),
    ],
)
def test_neighbouring_calls_that_have_ended_are_one_line(parts, expected):
    assert shape(*parts) == expected


@pytest.mark.parametrize("status", ["open", "waiting", "suspended", "started", "unknown", "rejected", "cancelled"])
def test_what_has_not_ended_by_itself_stays_in_sight(status):
    assert shape(card(status=status, kind=""), card(status=status, kind="")) == [0, 0]


@pytest.mark.parametrize("kind", ["unknown", "not_run"])
def test_a_result_that_nobody_knows_stays_in_sight(kind):
    assert shape(card(kind=kind), card(kind=kind)) == [0, 0]


def test_the_line_says_which_tools_worked_how_often_how_long_and_what_failed():
    cards = [
        card(at=0, seconds=4),
        card(at=1, seconds=2),
        card("Write file", at=10, kind="error"),
        card(at=3, seconds=4),
    ]
    (steps,) = folded(Item(card=each) for each in cards)
    assert (steps.number, steps.tools, steps.failed) == (4, "Read file ×3, Write file", 1)
    assert steps.seconds == pytest.approx(8), "three at once worked from 0 to 7, one from 10 to 11"
