"""Approvals by several people. Each says yes once, to the same arguments; one no, or one answer, is enough."""

import hashlib
from collections.abc import Mapping
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from agentweb.engine.enums import DecisionKind
from agentweb.engine.terms import Consent
from agentweb.runs.asking_models import ApprovalTerms, Vote
from agentweb.runs.errors import Conflict
from agentweb.runs.models import Approval
from agentweb.schema.json_text import canonical
from agentweb.teams.models import User

LOOK: dict[str, Any] = {"final_effect": "", "final_preview": None, "final_seen": ""}
CONSENTS = (DecisionKind.APPROVE, DecisionKind.MODIFY)


def decides(*, user: User, approval: Approval, kind: DecisionKind, comment: str, changes: Mapping[str, Any]) -> bool:
    """Record what the person says; whether the approval is decided with that. ``changes``: the fields of the approval
    that this decision would set. The run's row is locked, so no other vote is counted meanwhile.

    Who changes the arguments asks the others anew: what they said until then was about something else. Raises
    Conflict."""
    terms = approval.on_terms
    if terms is None or terms.needed < 2:
        return True
    wanted = changes.get("final_arguments")
    changed = kind in CONSENTS and canonical(wanted) != canonical(shown_arguments(approval))
    if kind is DecisionKind.MODIFY and terms.proposal is not None:  # the same arguments that would do something else
        changed |= changes.get("final_seen", "") != approval.final_seen
    if changed:
        _propose(terms, approval, user, changes)
    vote = Vote(
        approval=approval,
        user=user,
        kind=DecisionKind.MODIFY if changed else DecisionKind.APPROVE if kind in CONSENTS else kind,
        digest=shown_digest(approval),
        arguments=wanted if changed else None,
        comment=comment,
        created_at=timezone.now(),
    )
    _store(vote)
    return kind not in CONSENTS or Vote.objects.filter(approval=approval, void=False).count() >= terms.needed


def said(approval: Approval) -> str:
    """How much people have said of an approval that is on terms, as a mark that is another one after each word."""
    return f"{len(approval.votes.all())}.{len(approval.delegations.all())}" if approval.on_terms else ""


def _propose(terms: ApprovalTerms, approval: Approval, user: User, changes: Mapping[str, Any]) -> None:
    """Let people vote on other arguments from now on, and show them what the call would do with these."""
    make_void(approval)
    wanted = changes["final_arguments"]
    as_asked = canonical(wanted) == canonical(approval.arguments)
    terms.proposal, terms.proposed_by = (None, None) if as_asked else (wanted, user)
    terms.save(update_fields=["proposal", "proposed_by"])
    for name, nothing in LOOK.items():
        setattr(approval, name, nothing if as_asked else changes.get(name, nothing))
    if approval.previewed_at is not None:  # never newer than it is: the preview of what was asked for is as old as that
        approval.previewed_at = approval.created_at if as_asked else timezone.now()
    approval.save(update_fields=[*LOOK, "previewed_at"])


def make_void(approval: Approval) -> None:
    """What people have said until now was about something else than what is shown from now on."""
    Vote.objects.filter(approval=approval, void=False).update(void=True)


def _store(vote: Vote) -> None:
    try:
        with transaction.atomic():
            vote.save(force_insert=True)
    except IntegrityError as error:
        raise Conflict(_("You have approved this call already."), {"status": "pending"}) from error


def shown_arguments(approval: Approval) -> Any:
    """What people decide about: the arguments that were asked for, or those that somebody wants instead."""
    terms = approval.on_terms
    return approval.arguments if terms is None or terms.proposal is None else terms.proposal


def has_proposal(approval: Approval) -> bool:
    """Whether people decide about other arguments than those that were asked for."""
    return approval.on_terms is not None and approval.on_terms.proposal is not None


def shown_digest(approval: Approval) -> str:
    """What ties a decision to what was seen; another one for other arguments."""
    terms = approval.on_terms
    if terms is None or terms.proposal is None:
        return approval.digest
    said = f"{approval.digest} {canonical(terms.proposal)} {approval.final_seen}"
    return hashlib.sha256(said.encode()).hexdigest()


def consents(approval: Approval) -> tuple[Consent, ...]:
    """Those who have approved, the first one first; empty where one was enough."""
    return tuple(
        Consent(vote.user.display_name, vote.created_at.isoformat(), vote.comment)
        for vote in approval.votes.all()
        if not vote.void and vote.kind in CONSENTS
    )
