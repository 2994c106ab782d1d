"""What people say about calls that no tool can answer for: what became of one whose outcome is unknown."""

from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from agentweb.runs import journal, outbox
from agentweb.runs.decisions import MAX_COMMENT
from agentweb.runs.errors import Conflict, Forbidden, Invalid
from agentweb.runs.models import Call, CallAnswer, Run
from agentweb.runs.words import words_of
from agentweb.teams.models import User

MAX_CONTENT = 100_000


def resolve(*, user: User, call: Call, outcome: str, content: Any = "", comment: Any = "") -> Call:
    """A person settles a call whose outcome is unknown, and its run goes on, on commit.

    Raises Forbidden; Invalid with the field named; Conflict with the true state when there is nothing to settle."""
    if not call.run.conversation.may.decide:
        raise Forbidden(_("You may not decide about this call."))
    if outcome not in CallAnswer.Outcome.values:
        words = _("The outcome is one of done, not_done, tell_model.")
        raise Invalid(words, [("outcome", words)])
    content, comment = words_of("content", content, MAX_CONTENT), words_of("comment", comment, MAX_COMMENT)
    if content and outcome != CallAnswer.Outcome.DONE:
        words = _("A result can be given only for a call that was done.")
        raise Invalid(words, [("content", words)])
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=call.run_id)
        _still_unknown(call, run)
        CallAnswer.objects.create(run=run, call=call, outcome=outcome, content=content, comment=comment, given_by=user)
        journal.mark_queued(run)
        run.conversation = call.run.conversation
        outbox.touch(run, cards=[("call", str(call.public_id))])
    return call


def _still_unknown(call: Call, run: Run) -> None:
    call.refresh_from_db(fields=["status"])
    given = call.answers.filter(taken_at=None).select_related("given_by").first()
    if given is not None:
        words = _("%(person)s has said already what became of this call: %(state)s.") % {
            "person": given.given_by.display_name,
            "state": given.get_outcome_display(),
        }
        raise Conflict(words, {"status": call.status, "outcome": given.outcome, "given_by": given.given_by.username})
    if run.cancel_requested_at or run.status == Run.Status.FINISHED:
        raise Conflict(_("The run was cancelled; nothing will run."), {"status": call.status})
    if call.status != Call.Status.UNKNOWN:
        raise Conflict(_("What became of this call is known."), {"status": call.status})
