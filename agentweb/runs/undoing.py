"""Taking back what a call did, by the call that its tool names for that, judged and recorded like any other."""

from datetime import UTC, datetime

from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from agentweb.engine.enums import ResultKind
from agentweb.engine.ports import ToolContext
from agentweb.engine.reversing import Reverse
from agentweb.registry import reversing
from agentweb.runs import services, workspaces
from agentweb.runs.errors import Conflict
from agentweb.runs.models import Call, Message, Run
from agentweb.schema.text import clean
from agentweb.teams.models import User

SHORT = 200  # characters of what is said of the call


def reverse_of(call: Call) -> Reverse | None:
    """The call that would take back this one, which knows its run and conversation; None where none would."""
    done = call.status == Call.Status.FINISHED and call.result_kind == ResultKind.OK and call.kept_s is None
    if not done or call.undone_at or call.arguments is None or not reversing.may_have_reverse(call.name):
        return None
    workspace = workspaces.folder(str(call.run.conversation.public_id))
    context = ToolContext(str(call.public_id), workspace, lambda: datetime.now(UTC), lambda: False)
    return reversing.reverse_of(call.name, call.arguments, call.result or "", context)


def undo(*, user: User, call: Call) -> Run:
    """Start a run that makes the reverse call, and nothing else. The conversation tells who wanted it.

    Raises Forbidden; Conflict when the call cannot be taken back, or another run is at work."""
    conversation = call.run.conversation
    services.needs(conversation.may.write)
    _not_undone(call.undone_at)
    reverse = reverse_of(call)
    if reverse is None:
        raise Conflict(_("This call cannot be undone."), {"status": call.status})
    message = Message(conversation=conversation, role=Message.Role.USER, author=user, text=_words(call))
    run = Run(conversation=conversation, agent=conversation.agent, requested_by=user, undoes=call)
    try:
        with transaction.atomic():
            _not_undone(Call.objects.select_for_update().values_list("undone_at", flat=True).get(pk=call.pk))
            services.start_run(run, message, reversing.build(conversation.agent, reverse), reversing.TURNS)
            services.begun_by(message, run)
    except IntegrityError as error:
        raise Conflict(_("A run of this conversation is at work. Undo the call when it has ended."), {}) from error
    return run


def _not_undone(undone_at: datetime | None) -> None:
    """Raises Conflict."""
    if undone_at:
        raise Conflict(_("This call has been undone already."), {"undone_at": undone_at.isoformat()})


def _words(call: Call) -> str:
    """What the model will read of it later: that a person did this, and to what."""
    what = next((value for value in (call.arguments or {}).values() if isinstance(value, str)), "")
    words = _("I undo what %(tool)s did (%(what)s). This is done at my click, not by you.")
    return clean(words % {"tool": call.name, "what": " ".join(what.split())[:SHORT] or "–"})
