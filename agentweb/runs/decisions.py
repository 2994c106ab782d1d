"""What people decide about calls that wait. Exactly one decision counts; everyone else sees who was first."""

import json
from collections.abc import Mapping
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from agentweb.engine.enums import DecisionKind
from agentweb.registry import snapshots
from agentweb.registry.problem_words import sentence
from agentweb.runs import grants, journal, looking, outbox, votes
from agentweb.runs.cards import card_of
from agentweb.runs.deciders import WORDS, Why, forget_terms, mark, mark_anew
from agentweb.runs.errors import Conflict, Forbidden, Invalid
from agentweb.runs.expiry import is_overdue
from agentweb.runs.models import Approval, Run
from agentweb.runs.words import words_of
from agentweb.schema.json_text import canonical
from agentweb.schema.text import clean_json
from agentweb.schema.validate import validate
from agentweb.teams.models import User

MAX_COMMENT = 10_000
OFFERS = {
    "": {"type": "object", "additionalProperties": False},
    Approval.Question.BUDGET: {
        "type": "object",
        "properties": {
            "amount": {"type": "number", "minimum": 0, "maximum": 1_000_000_000_000},
            "compact": {"type": "boolean"},
            "cheaper": {"type": "boolean"},
        },
        "required": ["amount"],
        "additionalProperties": False,
    },
}
STATUS = {
    DecisionKind.APPROVE: Approval.Status.APPROVED,
    DecisionKind.MODIFY: Approval.Status.MODIFIED,
    DecisionKind.REJECT: Approval.Status.REJECTED,
    DecisionKind.RESPOND: Approval.Status.ANSWERED,
}


def decide(
    *,
    user: User,
    approval: Approval,
    decision: str,
    digest: str,
    arguments: Any = None,
    comment: str = "",
    response: str = "",
    seen: str | None = None,
    remember: grants.Wish | None = None,
) -> Approval:
    """Record a person's decision and let the run go on, on commit. ``remember``: as a grant for later calls.

    ``digest`` is the one shown on the card: it ties the decision to what was seen; ``seen`` is that of the preview that
    was shown for changed arguments, None where none was. Raises Forbidden; Invalid with the fields named; Conflict with
    the true state when the approval is decided, expired, cancelled or not the one shown, or when the changed call would
    do something else by now.
    """
    kind = _kind(decision)
    _permitted(approval, kind)
    comment, response = words_of("comment", comment, MAX_COMMENT), words_of("response", response, MAX_COMMENT)
    changes = _changes(kind, approval, arguments, comment, response)
    if kind is DecisionKind.MODIFY:
        changes |= _looked_at(approval, changes["final_arguments"], seen)
    if remember is not None:
        grants.check(user, approval, kind, remember)
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=approval.run_id)
        still_open(approval, run, digest)
        mark_anew(user, approval)  # somebody may have handed it over, or lost a role, since the card was read
        _permitted(approval, kind)
        run.conversation = approval.run.conversation
        if not votes.decides(user=user, approval=approval, kind=kind, comment=comment, changes=changes):
            return _others_must_agree(user, approval, run)
        changed = Approval.objects.filter(pk=approval.pk, status=Approval.Status.PENDING).update(
            decided_by=user, decided_at=timezone.now(), comment=comment, response=response, **changes
        )
        if not changed:
            raise _decided(approval)
        if remember is not None:
            grants.give(user=user, approval=approval, wish=remember)
        if kind is DecisionKind.REJECT:
            grants.withdraw(user=user, approval=approval)
        journal.mark_queued(run)
        outbox.touch(run, cards=[card_of(approval)])
        outbox.inbox_changed(run.conversation)
    approval.refresh_from_db(fields=[*changes, "decided_by", "decided_at", "comment", "response"])
    return approval


def _permitted(approval: Approval, kind: DecisionKind) -> None:
    """Raises Forbidden; Conflict for a second yes of the same person."""
    if approval.may_reject if kind is DecisionKind.REJECT else approval.may_decide:
        return
    why = approval.why_not or Why.LOOKS_ONLY
    if why is not Why.VOTED:
        raise Forbidden(str(WORDS[why]))
    if approval.status != Approval.Status.PENDING:
        raise _decided(approval)
    raise Conflict(str(WORDS[why]), state(approval))


def _others_must_agree(user: User, approval: Approval, run: Run) -> Approval:
    """One of several people has agreed, and the approval still waits."""
    outbox.touch(run, cards=[card_of(approval)])
    outbox.inbox_changed(run.conversation)
    forget_terms(approval)
    mark(user, [approval])
    return approval


def modified_problems(approval: Approval, arguments: Any) -> list[tuple[str, str]]:
    """What is wrong with changed arguments, as (path, message) pairs, judged by the tool's schema of this run."""
    if not isinstance(arguments, Mapping):
        return [("arguments", _("The arguments must be a JSON object."))]
    return [(problem.path or "arguments", sentence(problem)) for problem in validate(parameters(approval), arguments)]


def parameters(approval: Approval) -> Mapping[str, Any]:
    """The JSON Schema of the tool's parameters, as the run was started with, or of what a question offers."""
    if approval.call is None:
        return OFFERS.get(approval.question, OFFERS[""])
    use = snapshots.use_of(json.loads(approval.run.snapshot.data), approval.call.name)
    return use.parameters if use else {"type": "object"}


def _kind(decision: str) -> DecisionKind:
    try:
        return DecisionKind(decision)
    except ValueError as error:
        words = _("The decision is one of approve, modify, reject, respond.")
        raise Invalid(words, [("decision", words)]) from error


def _changes(kind: DecisionKind, approval: Approval, arguments: Any, comment: str, response: str) -> dict[str, Any]:
    """The approval's new status and final arguments. Raises Invalid."""
    runs = kind in (DecisionKind.APPROVE, DecisionKind.MODIFY)
    if runs and approval.requires_comment and not comment:
        words = _("A comment is required at this risk level.")
        raise Invalid(words, [("comment", words)])
    if kind is DecisionKind.RESPOND and approval.call is None:
        words = _("There is no tool in whose place somebody could answer.")
        raise Invalid(words, [("decision", words)])
    if kind is DecisionKind.RESPOND and not response:
        words = _("Write the answer that the agent gets in place of the tool's.")
        raise Invalid(words, [("response", words)])
    if not runs:
        return {"status": STATUS[kind]}
    if kind is DecisionKind.APPROVE:
        arguments = votes.shown_arguments(approval)
    else:
        arguments = clean_json(arguments)
        if problems := modified_problems(approval, arguments):
            raise Invalid(_("The changed arguments are not valid."), problems)
    same = canonical(arguments) == canonical(approval.arguments)
    return {"status": STATUS[DecisionKind.APPROVE if same else DecisionKind.MODIFY], "final_arguments": dict(arguments)}


def _looked_at(approval: Approval, arguments: Mapping[str, Any], seen: str | None) -> dict[str, Any]:
    """What the call would do with the changed arguments; the worker looks again before the call. Raises Changed."""
    look = looking.look_at(approval, arguments)
    if seen is not None and seen != look.seen:
        raise looking.Changed(_("What the changed call would do is no longer what was shown."), state(approval))
    return {"final_effect": look.effect, "final_preview": look.preview, "final_seen": look.seen}


def still_open(approval: Approval, run: Run, digest: str | None = None) -> None:
    """Raises Conflict unless the approval waits, as shown, in a run that still wants it."""
    approval.refresh_from_db(fields=["status", "digest", "final_seen", "expires_at", "decided_at", "decided_by"])
    forget_terms(approval)
    if approval.status != Approval.Status.PENDING:
        raise _decided(approval)
    if run.cancel_requested_at or run.status == Run.Status.FINISHED:
        raise Conflict(_("The run was cancelled; nothing will run."), state(approval))
    if is_overdue(approval):
        raise Conflict(_("The time to decide is over."), {**state(approval), "status": Approval.Status.EXPIRED.value})
    if digest is not None and digest != votes.shown_digest(approval):
        raise Conflict(_("The call has changed since it was shown. Look at it again."), state(approval))


def _decided(approval: Approval) -> Conflict:
    approval.refresh_from_db()
    words = {
        Approval.Status.CANCELLED: _("The run was cancelled; nothing will run."),
        Approval.Status.EXPIRED: _("The time to decide is over."),
    }.get(approval.status)
    if words is None:
        words = _("%(person)s has decided already: %(state)s.") % {
            "person": approval.decided_by.display_name if approval.decided_by else "–",
            "state": approval.get_status_display(),
        }
    return Conflict(words, state(approval))


def state(approval: Approval) -> dict[str, Any]:
    """How the approval stands, as JSON data."""
    return {
        "id": str(approval.public_id),
        "status": str(approval.status),
        "decided_by": approval.decided_by.username if approval.decided_by else None,
        "decided_at": approval.decided_at.isoformat() if approval.decided_at else None,
        "digest": votes.shown_digest(approval),
    }
