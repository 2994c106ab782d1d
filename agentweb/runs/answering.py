"""What else changes when a call gets its answer: from another tool, or as what takes an older call back."""

from datetime import datetime
from typing import Any

from agentweb.engine import events
from agentweb.engine.codec import encode
from agentweb.engine.entry import Failure
from agentweb.engine.enums import CallStatus, ResultKind
from agentweb.runs import outbox
from agentweb.runs.models import Call, Run


def by_another(run: Run, event: events.ToolReplaced) -> dict[str, Any]:
    """The changes of the call that another tool is to answer."""
    row = Call.objects.only("name", "asked_name", "failures").get(public_id=event.call, run=run)
    return {
        "status": CallStatus.OPEN.value,
        "name": event.by,
        "asked_name": row.asked_name or row.name,
        "failures": [*row.failures, encode(Failure(event.name, event.failure.content))],
        "attempt": 0,
    }


def finished(run: Run, event: events.ToolFinished, now: datetime) -> None:
    """The call that this run takes back is drawn anew, on the page of its own run."""
    if run.undoes_id is None or event.result.kind is not ResultKind.OK:
        return
    Call.objects.filter(pk=run.undoes_id).update(undone_at=now)
    row = Call.objects.select_related("run__conversation").get(pk=run.undoes_id)
    outbox.touch(row.run, cards=[("call", str(row.public_id))])
