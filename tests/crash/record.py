"""What must be true of the record of every run, whatever was killed while it was written."""

from collections import Counter

from agentweb.runs import chain
from agentweb.runs.models import Call, Event, Message, Run
from tests.crash.site import Asked

ENDED = (Call.Status.FINISHED, Call.Status.REJECTED, Call.Status.EXPIRED, Call.Status.CANCELLED)


def check_record(asked: Asked) -> None:
    """The events have no gap, their chain holds; a run that is over has nothing open, and one result per call."""
    run = asked.row
    events = list(run.events.order_by("number"))
    assert [event.number for event in events] == list(range(1, run.last_event + 1))
    _check_chain(run, events)
    _check_epochs(events)
    if run.status == Run.Status.FINISHED:
        _check_results(run, events)
        assert not run.messages.filter(status=Message.Status.STREAMING).exists()
        assert events[-1].kind == "RunFinished"
        assert [event.kind for event in events].count("RunFinished") == 1


def _check_chain(run: Run, events: list[Event]) -> None:
    head, name = "", str(run.public_id)
    for event in events:
        digest = chain.payload_digest(event.payload)
        assert digest == event.payload_digest
        head = chain.next_hash(before=head, run=name, number=event.number, kind=event.kind, at=event.at, digest=digest)
        assert head == event.hash, event.number
    assert head == run.head_hash
    assert chain.sign(run=name, number=run.last_event, head=head) == run.head_signature


def _check_epochs(events: list[Event]) -> None:
    """Each claim is numbered by the one before it, so no two workers held the run at once."""
    claims = [event.payload for event in events if event.kind == "RunClaimed"]
    assert all(f'"epoch":{number}' in payload for number, payload in enumerate(claims, 1)), claims


def _check_results(run: Run, events: list[Event]) -> None:
    results = Counter(event.payload for event in events if event.kind == "ToolFinished")
    calls = list(run.calls.all())
    assert len(results) == sum(results.values()) == len(calls)
    for call in calls:
        assert call.result is not None and call.status in ENDED, (call.name, call.status)
        assert sum(str(call.public_id) in payload for payload in results) == 1
