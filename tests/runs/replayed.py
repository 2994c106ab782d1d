"""What the record says about a conversation, made from its events alone."""

import json

from agentweb.engine.codec import decode
from agentweb.engine.events import RunStarted
from agentweb.engine.messages import UserMessage
from agentweb.engine.transcript import Transcript
from agentweb.runs.models import Event, Message, Run


def replayed(run: Run) -> Transcript:
    """The transcript that all events up to the last one of the run make."""
    transcript = Transcript()
    rows = Event.objects.filter(run__conversation=run.conversation_id, run__lte=run.pk).order_by("run_id", "number")
    known: set[str] = set()
    for row in rows:
        event = decode(row.kind, json.loads(row.payload))
        if isinstance(event, RunStarted) and event.message not in known:
            known.add(event.message)
            question = Message.objects.select_related("author").get(public_id=event.message)
            transcript.messages.append(UserMessage(event.message, question.text, question.author.display_name))
        transcript.apply(event)
    return transcript
