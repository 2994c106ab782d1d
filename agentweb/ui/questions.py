"""What people are asked about a run as a whole, ready for the template."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agentweb.engine.enums import ApprovalStatus, Circling, Question
from agentweb.runs.models import Approval
from agentweb.ui.calls import summary

CIRCLES = {
    Circling.SAME_CALL: gettext_lazy("It repeats the same call, also after it was told to stop: %(call)s"),
    Circling.PING_PONG: gettext_lazy(
        "It goes back and forth between two calls, also after it was told to stop; the last one: %(call)s"
    ),
    Circling.NOTHING_NEW: gettext_lazy(
        "Its calls tell it nothing new any more, also after it was told to stop; the last one: %(call)s"
    ),
}
TITLES = {Question.CIRCLES: gettext_lazy("The agent repeats itself: may it go on?")}
DECIDED = {
    ApprovalStatus.APPROVED: ("ok", "circle-check", gettext_lazy("Goes on")),
    ApprovalStatus.MODIFIED: ("ok", "circle-check", gettext_lazy("Goes on")),
    ApprovalStatus.REJECTED: ("", "square", gettext_lazy("Sums up and ends")),
    ApprovalStatus.EXPIRED: ("failed", "clock", gettext_lazy("Expired without a decision")),
    ApprovalStatus.CANCELLED: ("", "ban", gettext_lazy("The run ended before anyone decided")),
}


@dataclass(frozen=True, slots=True)
class QuestionCard:
    """``words`` say what it is about; ``decided`` is the style, icon and words of the decision."""

    row: Approval
    title: str
    words: str
    yes: str
    no: str
    decided: tuple[str, str, Any] | None
    may_decide: bool
    problems: dict[str, str] = field(default_factory=dict)

    @property
    def open(self) -> bool:
        return is_open(self.row)

    @property
    def asks(self) -> str:
        """Names the question for as long as this person may answer it; else empty."""
        return f"{self.row.public_id} {self.row.digest}" if self.open and self.may_decide else ""


def question_card(row: Approval) -> QuestionCard:
    """The card of a question that a selector gave out, which knows what this person may do."""
    return QuestionCard(
        row=row,
        title=str(TITLES[Question(row.question)]),
        words=words(Question(row.question), row.facts or {}),
        yes=_("Let it go on"),
        no=_("Finish now"),
        decided=DECIDED.get(row.status),
        may_decide=bool(getattr(row, "may_decide", False)),
    )


def is_open(row: Approval) -> bool:
    return row.status == Approval.Status.PENDING


def words(about: Question, facts: Mapping[str, Any]) -> str:
    """What led to the question, in a sentence."""
    match about:
        case Question.CIRCLES:
            return _circles(facts)


def _circles(facts: Mapping[str, Any]) -> str:
    sign = facts.get("sign")
    call = " ".join(filter(None, (str(facts.get("name", "")), summary(facts.get("arguments")))))
    return str(CIRCLES[Circling(sign)] % {"call": call}) if sign in set(Circling) else ""
