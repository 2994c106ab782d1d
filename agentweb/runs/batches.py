"""Deciding about several calls at once: those of one tool, at low risk, that the person has seen listed."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from agentweb.engine.enums import DecisionKind
from agentweb.registry.models import Risk
from agentweb.runs import decisions, waiting
from agentweb.runs.errors import Conflict, Forbidden, Invalid
from agentweb.runs.models import Approval
from agentweb.runs.selectors import approval_for
from agentweb.teams.models import User

MOST = 100
TOGETHER = (DecisionKind.APPROVE, DecisionKind.REJECT)


@dataclass(frozen=True, slots=True)
class Pick:
    """One approval as it was listed: its public id, and the digest that was shown."""

    approval: str
    digest: str


@dataclass(frozen=True, slots=True)
class Decided:
    """How many of the picked calls were decided now, and what was in the way of the others."""

    done: int
    others: list[str]


def together(user: User, tool: str) -> list[Approval]:
    """What may be decided at once: the person's waiting approvals of this tool at low risk, the oldest first. Where
    somebody has changed the arguments, people look at the card."""
    found = waiting.approvals_waiting_for(user).filter(call__name=tool, risk=Risk.LOW, requires_comment=False)
    found = found.filter(terms__proposal__isnull=True)
    return list(found.select_related("call__message").order_by("pk")[:MOST])


def decide_together(*, user: User, picks: Sequence[Pick], decision: str, comment: str = "") -> Decided:
    """One decision about each of them, as if it were made one by one; what somebody else was faster with is told.

    Raises Invalid, before anything is decided, when they are not of one tool at low risk."""
    if decision not in TOGETHER:
        raise Invalid(_("Several calls can only be approved or rejected at once."))
    if not 0 < len(picks) <= MOST:
        raise Invalid(_("Choose at least one call, and at most %(most)d.") % {"most": MOST})
    rows = [approval_for(user, pick.approval) for pick in picks]
    if len({row.call.name if row.call else None for row in rows}) > 1 or any(not _light(row) for row in rows):
        raise Invalid(_("Only calls of the same tool at low risk can be decided at once."))
    done, others = 0, []
    for row, pick in zip(rows, picks, strict=True):
        try:
            decisions.decide(user=user, approval=row, decision=decision, digest=pick.digest, comment=comment)
            done += 1
        except (Conflict, Forbidden) as error:
            others.append(error.text)
    return Decided(done, others)


def _light(row: Approval) -> bool:
    return row.call is not None and row.risk == Risk.LOW and not row.requires_comment
