"""Where on the page the messages stand that a fold stands for."""

from typing import Any

from agentweb.engine import events
from agentweb.runs.models import Message


def oldest_of(event: events.ContextFolded) -> dict[str, Any]:
    """Where on the page the first of the messages stands that went into the fold, and the run it belongs to."""
    if event.folds:
        extra = Message.objects.filter(public_id=event.folds[0]).values_list("extra", flat=True).first() or {}
        return {"first": extra.get("first", ""), "run": extra.get("run")}
    row = Message.objects.filter(public_id=event.messages[0]).first()
    if row is None:
        return {"first": "", "run": None}
    call = None if row.text or row.thinking else row.calls.order_by("position").first()  # alone, that is what shows
    return {"first": f"call-{call.public_id}" if call else f"message-{row.public_id}", "run": row.run_id}
