"""Grants in words: what one would cover before it is given, and how each stands."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext_lazy

from agentweb.registry.models import Tool
from agentweb.runs import grants
from agentweb.runs.models import Approval, Grant
from agentweb.teams.models import User
from agentweb.ui.calls import Argument, arguments
from agentweb.ui.labels import field_label

HOURS = (
    (1, ngettext_lazy("%(number)d hour", "%(number)d hours", "number")),
    (8, ngettext_lazy("%(number)d hour", "%(number)d hours", "number")),
    (24, ngettext_lazy("%(number)d day", "%(number)d days", "number")),
    (7 * 24, ngettext_lazy("%(number)d day", "%(number)d days", "number")),
    (30 * 24, ngettext_lazy("%(number)d day", "%(number)d days", "number")),
)
BUTTONS = {
    Grant.Scope.RUN: gettext_lazy("Approve for this run"),
    Grant.Scope.CONVERSATION: gettext_lazy("Approve for this conversation"),
}
WHERE = {
    Grant.Scope.RUN: gettext_lazy("in this run"),
    Grant.Scope.CONVERSATION: gettext_lazy("in this conversation"),
    Grant.Scope.PERSON: gettext_lazy("in all runs of who gave it"),
}


@dataclass(frozen=True, slots=True)
class Offer:
    """What the card says before an approval is remembered. ``buttons``: the scopes with their words; ``hours``: for how
    long, where one may choose; ``free``: the arguments that would vary."""

    covers: str
    free: list[str]
    vary: str
    buttons: list[tuple[str, str]]
    hours: list[tuple[int, str]]


@dataclass(frozen=True, slots=True)
class GrantLine:
    """A grant as people see it. ``standing`` is how it stands in words, ``alive`` whether it still counts."""

    row: Grant
    label: str
    covers: str
    arguments: list[Argument]
    where: str
    standing: str
    alive: bool
    may_revoke: bool


def offer(user: User, approval: Approval, label: str) -> Offer:
    """Empty of buttons where nothing may be remembered."""
    scopes = grants.scopes_for(user, approval)
    free = grants.free_arguments(approval) if scopes else []
    names = _names(free)
    words = _("It covers later calls of %(tool)s by the agent %(agent)s with exactly the arguments below.")
    return Offer(
        covers=words % {"tool": label, "agent": approval.run.agent.name},
        free=free,
        vary=_("Let these differ from call to call, all others staying the same: %(names)s") % {"names": names},
        buttons=[(scope.value, str(BUTTONS[scope])) for scope in scopes if scope is not Grant.Scope.PERSON],
        hours=[(hours, _long(hours, words)) for hours, words in HOURS] if Grant.Scope.PERSON in scopes else [],
    )


def _long(hours: int, words: object) -> str:
    number = hours if hours < 24 else hours // 24
    return str(words % {"number": number})  # type: ignore[operator]


def _names(free: Iterable[str]) -> str:
    return ", ".join(field_label(name) for name in free)


def grant_lines(rows: Iterable[Grant]) -> list[GrantLine]:
    """One query for the labels of the tools."""
    rows, now = list(rows), timezone.now()
    labels = dict(Tool.objects.filter(name__in={row.tool for row in rows}).values_list("name", "label"))
    return [grant_line(row, labels.get(row.tool, ""), now) for row in rows]


def grant_line(row: Grant, label: str, now: datetime) -> GrantLine:
    standing = _ended(row, now)
    return GrantLine(
        row=row,
        label=_(label) if label else row.tool,
        covers=_covers(row),
        arguments=arguments(row.arguments),
        where=str(WHERE[Grant.Scope(row.scope)]),
        standing=standing or _("Counts"),
        alive=not standing,
        may_revoke=bool(getattr(row, "may_revoke", False)) and not standing,
    )


def _covers(row: Grant) -> str:
    if not row.free:
        return _("Calls with exactly these arguments.")
    return _("Calls with exactly these arguments, but for what may vary: %(names)s.") % {"names": _names(row.free)}


def _ended(row: Grant, now: datetime) -> str:
    """Why it covers nothing any more; empty while it does."""
    if row.ended_why:
        return str(Grant.Ended(row.ended_why).label)
    if row.expired(now):
        return _("Expired")
    if row.scope == Grant.Scope.RUN and not row.run.live:
        return _("Over, since its run has ended")
    return str(Grant.Ended.CHANGED.label) if getattr(row, "changed", False) else ""
