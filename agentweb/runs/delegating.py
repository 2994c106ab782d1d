"""Handing an approval to somebody else of the team, who then decides in one's place."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from agentweb.runs.asking import members_of, tell
from agentweb.runs.asking_models import ApprovalTerms, Delegation
from agentweb.runs.deciders import WORDS, Why, forget_terms, mark, mark_anew, may, read_terms
from agentweb.runs.decisions import MAX_COMMENT, still_open
from agentweb.runs.errors import Forbidden, Invalid
from agentweb.runs.models import Approval, Run
from agentweb.runs.rights import rights
from agentweb.runs.words import words_of
from agentweb.teams.models import User

STAND_IN = (None, Why.NOT_NAMED, Why.LOOKS_ONLY)  # what may keep somebody from deciding who could stand in


def candidates(approval: Approval) -> list[User]:
    """Those who could decide in somebody's place: they see the conversation, may not decide about this already, and
    neither is it kept apart from them nor have they handed it on. By name."""
    read_terms([approval])
    conversation, found = approval.run.conversation, []
    for user, role, person in members_of([approval]).get(conversation.team_id, ()):
        allowed = rights(user=user, conversation=conversation, role=role)
        now = may(approval, person, allowed)
        if allowed is not None and not now.approve and now.why in STAND_IN:
            found.append(user)
    return sorted(found, key=lambda user: user.display_name)


def hand_over(*, user: User, approval: Approval, to: str, comment: str = "") -> Approval:
    """Let the person with the user name ``to`` decide in place of this one, who may not approve any more.

    Raises Forbidden; Invalid with the field named; Conflict with the true state when nothing waits any more."""
    _permitted(approval)
    comment = words_of("comment", comment, MAX_COMMENT)
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=approval.run_id)
        still_open(approval, run)
        mark_anew(user, approval)  # they may have voted since the card was read
        _permitted(approval)
        person = next((one for one in candidates(approval) if one.username == to), None)
        if person is None:
            words = _("Choose somebody of the team who sees the conversation and may not decide about this already.")
            raise Invalid(words, [("to", words)])
        if approval.on_terms is None:
            ApprovalTerms.objects.create(approval=approval)
        Delegation.objects.create(approval=approval, by=user, to=person, comment=comment, created_at=timezone.now())
        tell(approval)
    forget_terms(approval)
    mark(user, [approval])
    return approval


def _permitted(approval: Approval) -> None:
    """Raises Forbidden."""
    if not approval.may_decide or approval.call is None:
        raise Forbidden(str(WORDS[approval.why_not or Why.LOOKS_ONLY]))
