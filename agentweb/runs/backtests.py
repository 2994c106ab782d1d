"""Trying a policy on recorded calls, in steps that each take a moment: what would have become of them, and what did."""

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from agentweb.engine.enums import ResultKind, Risk
from agentweb.policy.judging import judge
from agentweb.policy.rules import Facts
from agentweb.registry import catalog
from agentweb.registry.drafts import Draft
from agentweb.registry.models import Tool
from agentweb.registry.policies import Standing, Who, standing
from agentweb.runs import outbox
from agentweb.runs.backtest_models import Backtest, BacktestedCall, Verdict
from agentweb.runs.models import Approval, Call, Taint
from agentweb.schema.json_text import canonical
from agentweb.teams.models import Membership, User

TASK = "policies.backtest"
STEP = 200  # calls
PATIENCE = timedelta(seconds=60)  # a backtest that nobody has touched for so long is asked for again
COUNTED = {Verdict.ALLOW: "allowed", Verdict.ASK: "asked", Verdict.DENY: "denied"}


def start(*, user: User, draft: Draft, since: Any = None, until: Any = None, most: int = 1000) -> Backtest:
    """Put a backtest into the queue; a worker takes it on commit."""
    with transaction.atomic():
        row = Backtest.objects.create(
            name=draft.name[:120],
            replaces=draft.replaces,
            rules=canonical(list(draft.said)),
            since=since,
            until=until,
            most=most,
            created_by=user,
        )
        outbox.send_on_commit(TASK, row.pk)
    return row


def cancel(*, backtest: Backtest) -> bool:
    """End it; what was found until then stays."""
    live = (Backtest.Status.QUEUED, Backtest.Status.RUNNING)
    changed = Backtest.objects.filter(pk=backtest.pk, status__in=live).update(
        status=Backtest.Status.CANCELLED, finished_at=timezone.now()
    )
    return bool(changed)


def ask_again() -> int:
    """Send for those that nobody works on any more, or that no worker was told of."""
    late = timezone.now() - PATIENCE
    quiet = Q(beat_at__lt=late) | Q(beat_at=None, created_at__lt=late)
    found = Backtest.objects.filter(quiet, status__in=(Backtest.Status.QUEUED, Backtest.Status.RUNNING))
    number = 0
    for pk in found.values_list("pk", flat=True)[:10]:
        if found.filter(pk=pk).update(status=Backtest.Status.QUEUED, beat_at=timezone.now()):
            outbox.send(TASK, pk)
            number += 1
    return number


def recorded(backtest: Backtest) -> QuerySet[Call]:
    """The calls in question, the newest first: those that a policy has judged."""
    asked = Approval.objects.filter(call=OuterRef("pk"))
    found = Call.objects.annotate(was_asked=Exists(asked), tainted=Exists(_read_before())).filter(
        invalid="", asked_arguments__isnull=False
    )
    found = found.filter(Q(started_at__isnull=False) | Q(was_asked=True) | Q(result_kind=ResultKind.DENIED))
    if backtest.since:
        found = found.filter(message__created_at__gte=backtest.since)
    if backtest.until:
        found = found.filter(message__created_at__lt=backtest.until)
    return found.order_by("-pk")


def _read_before() -> QuerySet[Taint]:
    """The untrusted texts that the call's conversation held when the model asked for the call."""
    asked_at = OuterRef("message__created_at")
    uncleared = Q(cleared_at=None) | Q(cleared_at__gt=asked_at)
    return Taint.objects.filter(uncleared, conversation=OuterRef("run__conversation"), arrived_at__lt=asked_at)


@dataclass(frozen=True, slots=True)
class _Law:
    """What counts for every call of the backtest. ``harmless``: the tools that change and send nothing."""

    now: Standing
    risks: dict[str, Risk]
    harmless: frozenset[str]


def run(pk: int) -> None:
    """Go on with a backtest until it is done, cancelled, or taken up by someone else."""
    row = _taken(pk)
    if row is None:
        return
    try:
        law = _law(row)
        while _step(row, law):
            pass
    except Exception:
        Backtest.objects.filter(pk=pk).update(status=Backtest.Status.FAILED, finished_at=timezone.now())
        raise


def _taken(pk: int) -> Backtest | None:
    now = timezone.now()
    free = Q(status=Backtest.Status.QUEUED) | Q(status=Backtest.Status.RUNNING, beat_at__lt=now - PATIENCE)
    if not Backtest.objects.filter(free, pk=pk).update(status=Backtest.Status.RUNNING, beat_at=now):
        return None
    row = Backtest.objects.get(pk=pk)
    if row.cursor is None:
        row.total = recorded(row).order_by()[: row.most].count()
        Backtest.objects.filter(pk=pk).update(total=row.total)
    return row


def _law(row: Backtest) -> _Law:
    draft = Draft(row.replaces, row.name, tuple(json.loads(row.rules)))
    rows = list(Tool.objects.values_list("name", "risk", "outbound"))
    found = catalog.find(name for name, _risk, _outbound in rows)
    reading = {name for name, tool in found.items() if tool.spec.reads}
    harmless = frozenset(name for name, _risk, outbound in rows if name in reading and not outbound)
    risks = {name: Risk(risk) for name, risk, _outbound in rows}
    return _Law(draft.instead(standing({"*"}, Who())), risks, harmless)


def _step(row: Backtest, law: _Law) -> bool:
    """Judge the next calls and keep what came of it; whether there may be more. A constant number of queries."""
    calls = recorded(row).select_related("run__conversation").defer("result", "result_full", "raw")
    if row.cursor is not None:
        calls = calls.filter(pk__lt=row.cursor)
    batch = list(calls[: min(STEP, row.most - row.done)])
    roles = _roles(batch)
    lines = [_line(row, law, roles, call) for call in batch]
    found = Counter(line.verdict for line in lines)
    counts: dict[str, Any] = {name: F(name) + found[verdict] for verdict, name in COUNTED.items()}
    ends = len(batch) < STEP or row.done + len(batch) >= row.most
    if batch:
        counts |= {"cursor": batch[-1].pk}
    if ends:
        counts |= {"status": Backtest.Status.FINISHED, "finished_at": timezone.now()}
    with transaction.atomic():
        mine = Backtest.objects.filter(pk=row.pk, status=Backtest.Status.RUNNING, done=row.done)
        if not mine.update(
            done=F("done") + len(batch),
            changed=F("changed") + sum(line.changed for line in lines),
            beat_at=timezone.now(),
            **counts,
        ):
            return False
        BacktestedCall.objects.bulk_create(lines)
    row.done, row.cursor = row.done + len(batch), batch[-1].pk if batch else row.cursor
    return not ends


def _roles(calls: Iterable[Call]) -> dict[tuple[int, int], str]:
    """By team and person, the role that who asked has now."""
    people = {call.run.requested_by_id for call in calls}
    rows = Membership.objects.filter(user__in=people).values_list("team_id", "user_id", "role")
    return {(team, user): role for team, user, role in rows}


def _line(row: Backtest, law: _Law, roles: dict[tuple[int, int], str], call: Any) -> BacktestedCall:
    run, team = call.run, call.run.conversation.team_id
    facts = Facts(
        tool=call.name,
        risk=law.risks.get(call.name, Risk.HIGH),
        arguments=call.asked_arguments if isinstance(call.asked_arguments, dict) else None,
        agent=run.agent_id,
        team=team,
        user=run.requested_by_id,
        role=roles.get((team, run.requested_by_id)),
        tainted=call.tainted,
        attended=run.attended,
        acts=call.name not in law.harmless,
    )
    ruling = judge(law.now.rules, facts)
    return BacktestedCall(
        backtest=row, call=call, verdict=ruling.says.value, happened=_happened(call), rule=ruling.recorded[:300]
    )


def _happened(call: Any) -> str:
    if call.was_asked:
        return Verdict.ASK.value
    return Verdict.DENY.value if call.result_kind == ResultKind.DENIED else Verdict.ALLOW.value
