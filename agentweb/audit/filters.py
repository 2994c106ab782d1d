"""What a reviewer asks for, read from the address: which runs, and from which place in the list on."""

import uuid
from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields
from datetime import date, datetime, time, timedelta
from urllib.parse import urlencode

from django.db.models import Exists, OuterRef, Q, QuerySet, Subquery
from django.utils import timezone
from django.utils.dateparse import parse_date

from agentweb.runs.models import Approval, Call, Run

STATUSES = frozenset(Run.Status.values) - {Run.Status.FINISHED.value}


@dataclass(frozen=True, slots=True)
class Filters:
    """Empty means any. ``state`` is a status of a live run or an outcome; days are in the site's time zone and count
    whole; ``before`` is the last run of the page before."""

    person: str = ""
    team: str = ""
    agent: str = ""
    tool: str = ""
    state: str = ""
    decision: str = ""
    since: date | None = None
    until: date | None = None
    before: str = ""

    @classmethod
    def read(cls, given: Mapping[str, str]) -> "Filters":
        """From a query string. What cannot be understood is taken as not asked for."""
        return cls(
            person=given.get("person", "").strip()[:150],
            team=_id(given.get("team")),
            agent=_id(given.get("agent")),
            tool=given.get("tool", "").strip()[:200],
            state=_one_of(given.get("state"), STATUSES.union(Run.Outcome.values)),
            decision=_one_of(given.get("decision"), Approval.Status.values),
            since=_day(given.get("since")),
            until=_day(given.get("until")),
            before=_id(given.get("before")),
        )

    @property
    def narrowed(self) -> bool:
        """Whether anything but a place in the list was asked for."""
        return any(getattr(self, field.name) for field in fields(self) if field.name != "before")

    def address(self, *, before: str) -> str:
        """The same question as a query string, from another place on."""
        asked = {field.name: getattr(self, field.name) or "" for field in fields(self)} | {"before": before}
        return urlencode({name: str(value) for name, value in asked.items() if value})

    def apply(self, runs: QuerySet[Run]) -> QuerySet[Run]:
        """The runs that match and come behind ``before``."""
        for word in self.person.split():
            runs = runs.filter(_named(word))
        if self.team:
            runs = runs.filter(conversation__team__public_id=self.team)
        if self.agent:
            runs = runs.filter(agent__public_id=self.agent)
        if self.tool:
            runs = runs.filter(Exists(Call.objects.filter(run=OuterRef("pk"), name=self.tool)))
        if self.state:
            runs = runs.filter(**{"status" if self.state in STATUSES else "outcome": self.state})
        if self.decision:
            runs = runs.filter(Exists(Approval.objects.filter(run=OuterRef("pk"), status=self.decision)))
        return self._in_time(runs)

    def _in_time(self, runs: QuerySet[Run]) -> QuerySet[Run]:
        if self.since:
            runs = runs.filter(created_at__gte=_midnight(self.since))
        if self.until:
            runs = runs.filter(created_at__lt=_midnight(self.until + timedelta(days=1)))
        if self.before:
            runs = runs.filter(pk__lt=Subquery(Run.objects.filter(public_id=self.before).values("pk")[:1]))
        return runs


def _named(word: str) -> Q:
    who = "requested_by__"
    names = ("username", "first_name", "last_name")
    return Q(*((f"{who}{name}__icontains", word) for name in names), _connector=Q.OR)


def _midnight(day: date) -> datetime:
    return timezone.make_aware(datetime.combine(day, time.min))


def _day(text: str | None) -> date | None:
    try:
        found = parse_date(text or "")
    except ValueError:
        return None
    return found if found and date(1970, 1, 2) <= found <= date(9990, 1, 1) else None


def _id(text: str | None) -> str:
    try:
        return str(uuid.UUID(text or ""))
    except ValueError:
        return ""


def _one_of(text: str | None, known: Collection[str]) -> str:
    return text if text and text in known else ""
