"""How the site stands, in words for the start page of the admin. Each person reads what they may look at."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import AnonymousUser
from django.core.checks import WARNING, run_checks
from django.urls import reverse
from django.utils import timezone
from django.utils.timesince import timesince
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, ngettext_lazy

from agentweb.registry import endpoint, faults
from agentweb.runs import live, standing
from agentweb.runs.models import Run, WorkerProcess
from agentweb.runs.standing import Runs
from agentweb.teams.models import User
from agentweb.ui import reasons

CHECKS = "agentweb"
EXACT_S = 120
SAID_ELSEWHERE = frozenset({"registry.W001", "registry.I001"})  # keys are named with their models, the offer by itself

LIVE = {
    Run.Status.QUEUED: ngettext_lazy("%(count)d run is queued.", "%(count)d runs are queued.", "count"),
    Run.Status.RUNNING: ngettext_lazy("%(count)d run is at work.", "%(count)d runs are at work.", "count"),
    Run.Status.WAITING: ngettext_lazy("%(count)d run waits.", "%(count)d runs wait.", "count"),
}
# By the names that they have in `Runs` and in the filter of the list of runs.
STUCK = {
    "late": ngettext_lazy(
        "%(count)d run has been queued for more than a minute.",
        "%(count)d runs have been queued for more than a minute.",
        "count",
    ),
    "lost": ngettext_lazy(
        "%(count)d run has lost its worker.",
        "%(count)d runs have lost their workers.",
        "count",
    ),
    "often": ngettext_lazy(
        "%(count)d run was begun several times and gets nowhere.",
        "%(count)d runs were begun several times and get nowhere.",
        "count",
    ),
    "held": ngettext_lazy(
        "%(count)d run lost its worker, and a person must let it go on.",
        "%(count)d runs lost their workers, and people must let them go on.",
        "count",
    ),
}


@dataclass(frozen=True, slots=True)
class Note:
    """One sentence, and where to look closer ("" for nowhere)."""

    text: str
    url: str = ""
    more: str = ""


@dataclass(frozen=True, slots=True)
class Worker:
    name: str
    alive: bool
    beat: str
    started: str
    held: int


@dataclass(frozen=True, slots=True)
class Failure:
    url: str
    agent: str
    person: str
    when: str
    why: str


@dataclass(frozen=True, slots=True)
class Standing:
    """``None`` for what the person may not look at."""

    waits: list[Note]
    wrong: list[Note]
    offers: list[Note]
    workers: list[Worker] | None
    failures: list[Failure] | None


def standing_for(user: User | AnonymousUser) -> Standing:
    """A constant number of queries, at most eight."""
    sees_runs = user.has_perm("runs.view_run")
    counts = standing.runs() if sees_runs else None
    rows = standing.workers() if sees_runs else []
    waits: list[Note] = []
    wrong: list[Note] = []
    if user.has_perm("runs.view_approval"):
        waits += _approvals()
        wrong += _stranded()
    if counts is not None:
        waits += _live_runs(counts)
        wrong += [*_ways(rows), *_stuck(counts)]
    wrong += _unusable(user)
    checked = list(_checked()) if user.is_superuser else []
    wrong += [note for serious, note in checked if serious]
    return Standing(
        waits=waits,
        wrong=wrong,
        offers=[*_offers(user), *(note for serious, note in checked if not serious)],
        workers=[_worker(row) for row in rows] if sees_runs else None,
        failures=[_failure(run) for run in standing.failures()] if sees_runs else None,
    )


def _approvals() -> Iterator[Note]:
    found = standing.approvals()
    if found.count and found.oldest:
        words = ngettext(
            "%(count)d approval waits, asked for %(since)s ago.",
            "%(count)d approvals wait, the oldest asked for %(since)s ago.",
            found.count,
        )
        text = words % {"count": found.count, "since": _since(found.oldest)}
        yield Note(text, _listed("approval", "status__exact=pending"))


def _stranded() -> Iterator[Note]:
    if count := standing.stranded():
        words = ngettext(
            "%(count)d approval waits that nobody who is named can decide; admins of its team may.",
            "%(count)d approvals wait that nobody who is named can decide; admins of their teams may.",
            count,
        )
        yield Note(words % {"count": count}, _listed("approval", "status__exact=pending&terms__stranded__exact=1"))


def _live_runs(counts: Runs) -> Iterator[Note]:
    for status, words in LIVE.items():
        if count := getattr(counts, status.value):
            yield Note(words % {"count": count}, _listed("run", f"status__exact={status.value}"))


def _ways(rows: list[WorkerProcess]) -> Iterator[Note]:
    """What every run needs."""
    if not any(row.alive for row in rows):
        yield Note(_("No worker is alive: what is asked for waits until one starts."))
    for row in rows:
        if not row.alive:
            words = _("The worker %(name)s was last heard of %(since)s ago; others take its runs.")
            yield Note(words % {"name": row.name, "since": _since(row.beat_at)})
    if not live.answers():
        yield Note(_("Redis does not answer: nothing is shown live, and queued runs start late."))


def _stuck(counts: Runs) -> Iterator[Note]:
    for trouble, words in STUCK.items():
        if count := getattr(counts, trouble):
            yield Note(words % {"count": count}, _listed("run", f"trouble={trouble}"))


def _unusable(user: User | AnonymousUser) -> Iterator[Note]:
    kinds = (
        ("chatmodel", faults.models, _("The model %(name)s cannot be used.")),
        ("tool", faults.tools, _("The tool %(name)s cannot be used.")),
        ("mcpserver", faults.servers, _("The MCP server %(name)s does not answer as it should.")),
    )
    for kind, found, words in kinds:
        if user.has_perm(f"registry.view_{kind}"):
            for fault in found():
                url = reverse(f"admin:registry_{kind}_change", args=[fault.row.pk])
                why = " ".join(filter(None, (fault.why, faults.wanted_by(fault))))
                yield Note(words % {"name": fault.row.name}, url, why)


def _checked() -> Iterator[tuple[bool, Note]]:
    """What `manage.py check` says, and whether it is more than a hint."""
    for message in run_checks(tags=[CHECKS]):
        if message.id not in SAID_ELSEWHERE:
            yield message.level >= WARNING, Note(str(message.msg), more=str(message.hint or ""))


def _offers(user: User | AnonymousUser) -> Iterator[Note]:
    """Half of an endpoint in the environment is no fault: it is offered, and nothing is spent until it is whole."""
    if user.is_superuser and (sentence := endpoint.lone_setting()):
        url = reverse("admin:registry_chatmodel_add") + "?kind=openai"
        yield Note(sentence, url, _("Or set up a model here."))


def _worker(row: WorkerProcess) -> Worker:
    return Worker(row.name, row.alive, _since(row.beat_at), _since(row.started_at), row.held)


def _failure(run: Run) -> Failure:
    return Failure(
        url=reverse("admin:runs_run_change", args=[run.pk]),
        agent=run.agent.name,
        person=run.requested_by.display_name,
        when=_since(run.finished_at or run.created_at),
        why=_failed_since(run),
    )


def _failed_since(run: Run) -> str:
    kind = (run.error or {}).get("kind", "")
    return " ".join(filter(None, (reasons.sentence(run.reason), reasons.fault(kind)))) or run.reason


def _since(moment: datetime) -> str:
    """How long ago, to the second where that says something."""
    passed_s = max(0, int((timezone.now() - moment).total_seconds()))
    if passed_s >= EXACT_S:
        return timesince(moment)
    return ngettext("%(count)d second", "%(count)d seconds", passed_s) % {"count": passed_s}


def _listed(kind: str, query: str) -> str:
    return f"{reverse(f'admin:runs_{kind}_changelist')}?{query}"
