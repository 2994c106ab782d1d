"""Runs inside `manage.py shell`: looks through the record of every run, and prints one line of JSON."""

import json
from collections import Counter

from agentweb.runs.models import Event, Message, QueuedMessage, Run
from tests.crash.record import check_record
from tests.crash.site import Asked

faults, gaps = [], 0
for run in Run.objects.select_related("conversation"):
    numbers = list(run.events.order_by("number").values_list("number", flat=True))
    gaps += numbers != list(range(1, run.last_event + 1))
    try:
        check_record(Asked(str(run.public_id), str(run.conversation.public_id)))
    except AssertionError as error:
        faults.append(f"{run.public_id}: {error}"[:500])
outcomes = Counter(f"{run.status} {run.outcome} {run.reason}" for run in Run.objects.all())
ended = (Run.Status.FINISHED, Run.Status.WAITING)
said = set(Message.objects.filter(role=Message.Role.USER).values_list("public_id", flat=True))
said |= set(QueuedMessage.objects.values_list("public_id", flat=True))
print(
    json.dumps(
        {
            "runs": Run.objects.count(),
            "gaps": gaps,
            "faults": faults,
            "unfinished": [str(run.public_id) for run in Run.objects.exclude(status__in=ended)],
            "outcomes": outcomes,
            "claims": Event.objects.filter(kind="RunClaimed").count(),
            "messages": [str(identity) for identity in said],
        }
    )
)
