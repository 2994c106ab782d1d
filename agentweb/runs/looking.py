"""Looking again, before a decision, at what a call would do: for the arguments that were asked about, or for others."""

import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from agentweb.engine import events, previewing
from agentweb.engine.codec import decode
from agentweb.engine.digest import call_digest, preview_digest
from agentweb.engine.messages import Json
from agentweb.engine.ports import Preview
from agentweb.registry import catalog, outside, snapshots
from agentweb.runs import journal, outbox, votes
from agentweb.runs.cards import card_of
from agentweb.runs.deciders import forget_terms
from agentweb.runs.errors import Conflict, Forbidden
from agentweb.runs.models import Approval, Run
from agentweb.runs.workspaces import folder
from agentweb.schema.json_text import canonical
from agentweb.schema.text import clean_json

_POOL = ThreadPoolExecutor(max_workers=4, thread_name_prefix="preview")  # a look that hangs keeps one of them


class Changed(Conflict):
    """A call with changed arguments would do something else than was shown for them."""


@dataclass(frozen=True, slots=True)
class Look:
    """What a call would do, as it is stored and shown; ``seen`` is its digest, empty where the tool has no preview."""

    effect: str = ""
    preview: Mapping[str, Json] | None = None
    seen: str = ""

    @classmethod
    def of(cls, preview: Preview | None) -> "Look":
        if preview is None:
            return cls()
        return cls(clean_json(preview.effect), clean_json(previewing.shown(preview)), preview_digest(preview))


def look_at(approval: Approval, arguments: Mapping[str, Any]) -> Look:
    """What the call would do now with these arguments. Changes nothing, and takes 10 s at most."""
    tool = catalog.find_one(approval.call.name) if approval.call else None
    if approval.call is None:
        return Look()
    if tool is None:
        return Look.of(previewing.unknown())
    use = snapshots.use_of(json.loads(approval.run.snapshot.data), approval.call.name)
    if use is not None and not use.previews:
        return Look()
    workspace = folder(str(approval.run.conversation.public_id))
    context = outside.context(str(approval.call.public_id), workspace)
    looking = _POOL.submit(previewing.look, tool, arguments, context)
    try:
        return Look.of(looking.result(previewing.PREVIEW_S))
    except TimeoutError:
        looking.cancel()
        return Look.of(previewing.unknown())


def look_again(*, approval: Approval) -> bool:
    """Show anew what the call would do; True when that is something else than was shown until now.

    Raises Forbidden; Conflict when nothing waits for a decision any more, or a worker has the run."""
    if not approval.may_decide:
        raise Forbidden(_("You may not decide about this call."))
    arguments = votes.shown_arguments(approval)
    look = look_at(approval, arguments)
    with transaction.atomic():
        run = Run.objects.select_for_update().get(pk=approval.run_id)
        approval.refresh_from_db(fields=["status", "seen", "digest", "final_seen"])
        forget_terms(approval)
        if approval.status != Approval.Status.PENDING:
            raise Conflict(_("This call no longer waits for a decision."))
        if canonical(votes.shown_arguments(approval)) != canonical(arguments):
            raise Conflict(_("The call has changed since it was shown. Look at it again."))
        proposed = votes.has_proposal(approval)
        if look.seen == (approval.final_seen if proposed else approval.seen):
            Approval.objects.filter(pk=approval.pk).update(previewed_at=timezone.now())
            return False
        if proposed:
            _renew_proposal(approval, look)
        else:
            _renew(run, approval, look)
        outbox.touch(run, cards=[card_of(approval)])
    return True


def _renew(run: Run, approval: Approval, look: Look) -> None:
    """The decision binds to what is shown from now on; who saw the card before must look at it again."""
    assert approval.call is not None
    asked = _asked(run, str(approval.public_id))
    renewed = events.PreviewRenewed(
        approval=str(approval.public_id),
        call=str(approval.call.public_id),
        name=asked.name,
        digest=call_digest(asked.arguments, asked.definition, asked.rule, look.seen),
        effect=look.effect,
        preview=look.preview,
        seen=look.seen,
    )
    try:
        journal.amend(run.pk, (renewed,))
    except journal.LeaseLost as error:
        raise Conflict(_("The agent is at work just now. Look again in a moment.")) from error
    votes.make_void(approval)


def _renew_proposal(approval: Approval, look: Look) -> None:
    """The same for arguments that somebody wants instead, which the record does not know before they are decided."""
    Approval.objects.filter(pk=approval.pk).update(
        final_effect=look.effect, final_preview=look.preview, final_seen=look.seen, previewed_at=timezone.now()
    )
    votes.make_void(approval)


def _asked(run: Run, approval: str) -> events.ApprovalRequested:
    """The ask as it was recorded: the row cuts the words of a long rule."""
    stored = run.events.filter(kind=events.ApprovalRequested.__name__, payload__contains=approval).order_by("-number")
    for row in stored:
        event = decode(row.kind, json.loads(row.payload))
        if isinstance(event, events.ApprovalRequested) and event.approval == approval:
            return event
    raise LookupError(approval)
