"""What people are asked about a run as a whole, ready for the template."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from agentweb.engine.enums import ApprovalStatus, Circling, Question, Unit
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
TITLES = {
    Question.CIRCLES: gettext_lazy("The agent repeats itself: may it go on?"),
    Question.BUDGET: gettext_lazy("A budget is nearly used up: may the run go on, and with how much more?"),
}
UNITS = {
    Unit.TOKENS: gettext_lazy("More tokens"),
    Unit.COST: gettext_lazy("More money"),
    Unit.SECONDS: gettext_lazy("More seconds of work"),
}
AMOUNTS = {
    Unit.TOKENS: gettext_lazy("%(amount)s tokens"),
    Unit.COST: gettext_lazy("%(amount)s (cost)"),
    Unit.SECONDS: gettext_lazy("%(amount)s seconds of work"),
}
DECIDED = {
    ApprovalStatus.APPROVED: ("ok", "circle-check", gettext_lazy("Goes on")),
    ApprovalStatus.MODIFIED: ("ok", "circle-check", gettext_lazy("Goes on")),
    ApprovalStatus.REJECTED: ("", "square", gettext_lazy("Sums up and ends")),
    ApprovalStatus.EXPIRED: ("failed", "clock", gettext_lazy("Expired without a decision")),
    ApprovalStatus.CANCELLED: ("", "ban", gettext_lazy("The run ended before anyone decided")),
}


@dataclass(frozen=True, slots=True)
class QuestionCard:
    """``words`` say what it is about; ``decided`` is the style, icon and words of the decision. ``may_fold``: older
    messages may be folded first; ``folds``: somebody wanted that. ``cheaper`` names the model to which it may
    change, ``switches``: somebody wanted it to."""

    row: Approval
    title: str
    words: str
    yes: str
    no: str
    decided: tuple[str, str, Any] | None
    may_decide: bool
    amount: str = ""
    may_fold: bool = False
    folds: bool = False
    cheaper: str = ""
    switches: bool = False
    unit: str = ""
    granted: str = ""
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
    facts, budget = row.facts or {}, row.question == Question.BUDGET
    return QuestionCard(
        row=row,
        title=str(TITLES[Question(row.question)]),
        words=words(Question(row.question), facts),
        yes=_("Go on with so much more") if budget else _("Let it go on"),
        no=_("Finish now"),
        decided=DECIDED.get(row.status),
        may_decide=bool(getattr(row, "may_decide", False)),
        amount=str(row.arguments["amount"]) if budget else "",
        may_fold="compact" in row.arguments,
        cheaper=str(facts.get("cheaper", "")) if "cheaper" in row.arguments else "",
        switches=bool((row.final_arguments or {}).get("cheaper")),
        folds=bool((row.final_arguments or {}).get("compact")),
        unit=str(UNITS[Unit(facts["unit"])]) if budget else "",
        granted=_granted(row) if budget else "",
    )


def _granted(row: Approval) -> str:
    """How much more there was to be; empty where nobody granted anything."""
    if row.final_arguments is None:
        return ""
    return quantity(str(row.final_arguments["amount"]), (row.facts or {})["unit"])


def is_open(row: Approval) -> bool:
    return row.status == Approval.Status.PENDING


def words(about: Question, facts: Mapping[str, Any]) -> str:
    """What led to the question, in a sentence."""
    match about:
        case Question.CIRCLES:
            return _circles(facts)
        case Question.BUDGET:
            return _in_a_row(_spent(facts), _outlook(facts))


def _spent(facts: Mapping[str, Any]) -> str:
    whose = facts.get("whose", "")
    values = {
        "name": facts.get("name", ""),
        "whose": whose,
        "spent": quantity(facts["spent"], facts["unit"], bare=True),
        "limit": quantity(facts["limit"], facts["unit"]),
    }
    if whose:
        return _("Of the budget “%(name)s” (%(whose)s) %(spent)s of %(limit)s are spent.") % values
    return _("Of the budget “%(name)s” %(spent)s of %(limit)s are spent.") % values


def _outlook(facts: Mapping[str, Any]) -> str:
    """What the next turns will probably cost; empty where nothing is known."""
    turns = facts.get("turns")
    if turns is None:
        return ""
    following = _("The next turn will take about %(amount)s.") % {"amount": quantity(facts["next"], facts["unit"])}
    if turns == 0:
        return _in_a_row(following, _("That is more than what is left."))
    words = ngettext(
        "What is left is enough for about %(turns)d more turn.",
        "What is left is enough for about %(turns)d more turns.",
        turns,
    )
    return _in_a_row(following, words % {"turns": turns})


def _in_a_row(first: str, second: str) -> str:
    """Two sentences, the second may be empty; not every language has a space between them."""
    return _("%(first)s %(second)s") % {"first": first, "second": second} if second else first


def quantity(amount: str, unit: str, *, bare: bool = False) -> str:
    """An amount as people read it, with its unit unless ``bare``."""
    value = Decimal(amount)
    places = 0 if value == value.to_integral_value() else min(6, max(0, -int(value.as_tuple().exponent)))
    written = number_format(value, decimal_pos=places, use_l10n=True, force_grouping=True)
    return written if bare else str(AMOUNTS[Unit(unit)] % {"amount": written})


def _circles(facts: Mapping[str, Any]) -> str:
    sign = facts.get("sign")
    call = " ".join(filter(None, (str(facts.get("name", "")), summary(facts.get("arguments")))))
    return str(CIRCLES[Circling(sign)] % {"call": call}) if sign in set(Circling) else ""
