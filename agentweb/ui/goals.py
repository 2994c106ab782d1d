"""The goal checks of a run as a list with marks, in words for the viewer."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from agentweb.registry.models import GoalCheck

WORDS = {
    GoalCheck.Kind.FILE: gettext_lazy("The file %(subject)s exists"),
    GoalCheck.Kind.JSON: gettext_lazy("%(subject)s is JSON that fits the schema"),
    GoalCheck.Kind.TEXT: gettext_lazy("%(subject)s matches the pattern"),
    GoalCheck.Kind.FUNCTION: gettext_lazy("%(subject)s is content"),
}


@dataclass(frozen=True, slots=True)
class GoalLine:
    """``problem`` is what the agent was told; empty when the goal is reached."""

    words: str
    passed: bool
    problem: str


def goal_lines(results: Iterable[Mapping[str, Any]]) -> list[GoalLine]:
    return [GoalLine(goal_words(**each), bool(each["passed"]), str(each["problem"])) for each in results]


def goal_words(*, kind: str, subject: str, label: str, **_rest: Any) -> str:
    """The name that the admin gave, else what is checked."""
    return label or str(WORDS.get(kind, "%(subject)s")) % {"subject": subject or _("The answer")}
