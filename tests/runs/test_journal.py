"""The journal is the one writer: fenced, chained, all or nothing."""

import json
from datetime import timedelta

import pytest
from django.utils import timezone

from agentweb.engine import enums, events
from agentweb.engine.messages import AssistantMessage, ToolCall, ToolResult
from agentweb.engine.usage import Usage
from agentweb.runs import chain, journal, services
from agentweb.runs.models import Approval, Call, Event, Message, QueuedMessage, Run, WorkerProcess
from agentweb.runs.projection import Stale
from agentweb.runs.selectors import run_for
from tests.cast import make_worker

pytestmark = pytest.mark.django_db

MESSAGE, CALL, APPROVAL = (f"00000000-0000-4000-8000-00000000000{n}" for n in (1, 2, 3))
ANSWERED = events.RunFinished(enums.Outcome.ANSWERED, enums.Reason.DONE, "Answered.", Usage(seconds=2.5))
CANCELLED = events.RunFinished(enums.Outcome.CANCELLED, enums.Reason.BY_PERSON, "Cancelled.", Usage())
PAUSED = events.RunPaused((CALL,), Usage(seconds=1.0))
REQUESTED = events.ModelRequested(MESSAGE, 1, 1, "scripted", "d")


def asks(arguments=None) -> events.MessageFinished:
    call = ToolCall(CALL, "write_file", arguments or {"path": "a", "content": "x"}, "{}")
    message = AssistantMessage(MESSAGE, "I write.", "", (call,), enums.Finish.TOOL_CALLS)
    return events.MessageFinished(message, Usage(input_tokens=7, output_tokens=3))


WAITS = events.ApprovalRequested(APPROVAL, CALL, "write_file", {"path": "a"}, enums.Risk.MEDIUM, "digest", "rule")


def claimed(run: Run, worker: WorkerProcess) -> journal.Claimed:
    found = journal.claim(str(run.public_id), worker)
    assert found is not None
    return found


def kinds(run: Run) -> list[str]:
    return list(run.events.order_by("number").values_list("kind", flat=True))


def chain_holds(run: Run) -> bool:
    """Whether numbers have no gap and every hash follows from the one before."""
    head = ""
    for number, event in enumerate(run.events.order_by("number"), 1):
        digest = chain.payload_digest(event.payload)
        head = chain.next_hash(
            before=head, run=str(run.public_id), number=number, kind=event.kind, at=event.at, digest=digest
        )
        if (event.number, event.payload_digest, event.hash) != (number, digest, head):
            return False
    run.refresh_from_db()
    signature = chain.sign(run=str(run.public_id), number=run.last_event, head=head)
    return (run.head_hash, run.head_signature) == (head, signature)


def test_a_queued_run_is_claimed_once(cast, worker):
    run = cast.run()
    first = claimed(run, worker)
    assert (first.epoch, first.resumed, first.recovered) == (1, False, False)
    assert journal.claim(str(run.public_id), make_worker("other")) is None
    run.refresh_from_db()
    assert (run.status, run.owner) == (Run.Status.RUNNING, worker)
    assert kinds(run) == ["RunStarted", "RunClaimed"]


def test_a_run_whose_worker_no_longer_beats_is_claimed_by_another(cast, worker, settings):
    run = cast.run()
    old = claimed(run, worker)
    lost = timezone.now() - timedelta(seconds=settings.LEASE_SECONDS + 5)
    WorkerProcess.objects.filter(pk=worker.pk).update(beat_at=lost)
    new = claimed(run, make_worker("other"))
    assert (new.epoch, new.recovered, new.resumed) == (2, True, True)
    assert kinds(run) == ["RunStarted", "RunClaimed", "RunClaimed", "RunResumed"]
    before = Event.objects.count()
    with pytest.raises(journal.LeaseLost):
        journal.append(old, (events.TurnStarted(1),))
    assert Event.objects.count() == before
    journal.append(new, (events.TurnStarted(1),))


def test_a_run_that_gets_nowhere_is_exhausted_and_progress_resets_that(cast, settings):
    settings.MAX_ATTEMPTS = 2
    run = cast.run()
    seen = []
    for number in range(4):
        worker = make_worker(f"w{number}")
        seen.append(claimed(run, worker))
        WorkerProcess.objects.filter(pk=worker.pk).update(beat_at=timezone.now() - timedelta(days=1))
    assert [claim.exhausted for claim in seen] == [False, False, True, True]
    journal.append(seen[-1], (events.TurnStarted(1), REQUESTED, asks()))
    assert not claimed(run, make_worker("next")).exhausted


def test_a_batch_writes_its_events_and_every_row_that_follows(cast, worker):
    run = cast.run()
    holder = claimed(run, worker)
    journal.append(holder, (events.TurnStarted(1), REQUESTED))
    assert Message.objects.get(public_id=MESSAGE).status == Message.Status.STREAMING
    journal.append(holder, (asks(), events.ToolStarted(CALL, "write_file", {"path": "b"})))
    call = Call.objects.get(public_id=CALL)
    assert (call.status, call.asked_arguments["path"], call.arguments) == ("started", "a", {"path": "b"})
    journal.append(
        holder,
        (
            events.ToolFinished(CALL, "write_file", ToolResult(CALL, "written"), seconds=0.5),
            events.TurnFinished(1),
            ANSWERED,
        ),
    )
    run.refresh_from_db()
    assert (run.status, run.outcome, run.owner) == ("finished", "answered", None)
    assert (run.turns, run.model_calls, run.tool_calls) == (1, 1, 1)
    assert (run.input_tokens, run.output_tokens, run.seconds) == (7, 3, 0.5)
    call.refresh_from_db()
    assert (call.status, call.result, call.is_error) == ("finished", "written", False)
    assert chain_holds(run)


@pytest.mark.parametrize("change", ["payload", "kind", "number", "gone"])
def test_a_changed_or_removed_event_breaks_the_chain(cast, worker, change):
    run = cast.run()
    journal.append(claimed(run, worker), (events.TurnStarted(1), REQUESTED))
    assert chain_holds(run)
    event = run.events.get(number=4)
    if change == "gone":
        event.delete()
    else:
        wrong = {"payload": event.payload.replace("scripted", "other"), "kind": "TurnFinished", "number": 9}[change]
        Event.objects.filter(pk=event.pk).update(**{change: wrong})
    assert not chain_holds(run)


def test_a_run_does_not_finish_over_a_message_that_waits(cast, worker):
    run = cast.run()
    holder = claimed(run, worker)
    services.send_message(user=cast.owner, conversation=run_conversation(cast, run), text="and shorter")
    done = journal.append(holder, (events.TurnStarted(1), events.TurnFinished(1), ANSWERED))
    assert (done.refused, done.finished) == (True, False)
    run.refresh_from_db()
    assert run.status == Run.Status.RUNNING
    assert kinds(run)[-1] == "TurnFinished"


def test_a_cancelled_run_gives_its_queued_messages_back(cast, worker):
    run = cast.run()
    holder = claimed(run, worker)
    services.send_message(user=cast.owner, conversation=run_conversation(cast, run), text="and shorter")
    assert journal.append(holder, (CANCELLED,)).finished
    assert QueuedMessage.objects.get().status == QueuedMessage.Status.RETURNED


@pytest.mark.parametrize("request_", ["cancel", "stop", "decision"])
def test_a_run_does_not_pause_over_what_a_person_just_asked(cast, worker, request_):
    run = cast.run()
    holder = claimed(run, worker)
    journal.append(holder, (events.TurnStarted(1), REQUESTED))
    journal.append(holder, (asks(), WAITS))
    if request_ == "cancel":
        services.cancel_run(user=cast.owner, run=seen(cast, run))
    elif request_ == "stop":
        services.stop_run(user=cast.owner, run=seen(cast, run), after="acting")
    else:
        Approval.objects.update(status=Approval.Status.APPROVED)
    assert journal.append(holder, (PAUSED,)).refused
    run.refresh_from_db()
    assert run.status == Run.Status.RUNNING


@pytest.mark.parametrize(
    ("wish", "starts"), [("cancel", False), ("stop before tools", False), ("stop after tools", True)]
)
def test_nothing_starts_after_a_person_has_asked_for_an_end_though_it_was_judged_before(cast, worker, wish, starts):
    run = cast.run()
    holder = claimed(run, worker)
    journal.append(holder, (events.TurnStarted(1), REQUESTED))
    journal.append(holder, (asks(),))
    if wish == "cancel":
        services.cancel_run(user=cast.owner, run=seen(cast, run))
    else:
        services.stop_run(user=cast.owner, run=seen(cast, run), after="reasoning" if "before" in wish else "acting")
    begun = journal.append(holder, (events.ToolStarted(CALL, "write_file", {"path": "a"}),))
    assert begun.refused is not starts
    assert ("ToolStarted" in kinds(run)) is starts


def test_a_paused_run_has_no_owner_and_waits(cast, worker):
    run = cast.run()
    holder = claimed(run, worker)
    journal.append(holder, (events.TurnStarted(1), REQUESTED))
    journal.append(holder, (asks(), WAITS))
    assert journal.append(holder, (PAUSED,)).paused
    run.refresh_from_db()
    assert (run.status, run.owner, run.seconds) == ("waiting", None, 0.0)
    with pytest.raises(journal.LeaseLost):
        journal.append(holder, (events.TurnFinished(1),))


def test_a_queued_message_that_was_edited_meanwhile_is_looked_at_again(cast, worker):
    run = cast.run()
    holder = claimed(run, worker)
    services.send_message(user=cast.owner, conversation=run_conversation(cast, run), text="old words")
    queued = QueuedMessage.objects.get()
    taken = events.SteeringTaken(2, (events.Queued(str(queued.public_id), "old words", "owner", 0),))
    services.edit_queued(user=cast.owner, queued=with_run(queued, cast, run), text="new words")
    before = kinds(run)
    with pytest.raises(Stale):
        journal.append(holder, (events.TurnStarted(2), taken))
    assert kinds(run) == before
    newer = events.SteeringTaken(2, (events.Queued(str(queued.public_id), "new words", "owner", 1),))
    journal.append(holder, (events.TurnStarted(2), newer))
    assert Message.objects.get(public_id=queued.public_id).text == "new words"


def test_text_that_no_database_takes_is_cleaned_on_the_way_in(cast, worker):
    run = cast.run()
    holder = claimed(run, worker)
    journal.append(holder, (events.TurnStarted(1), REQUESTED))
    journal.append(holder, (asks({"path": "a\x00b", "content": "\ud800x"}),))
    assert Call.objects.get().asked_arguments == {"path": "ab", "content": "�x"}
    assert json.loads(run.events.get(kind="MessageFinished").payload)["message"]["calls"][0]["name"] == "write_file"
    assert chain_holds(run)


def run_conversation(cast, run):
    return seen(cast, run).conversation


def seen(cast, run):
    return run_for(cast.owner, run.public_id)


def with_run(queued, cast, run):
    queued.run = seen(cast, run)
    return queued


def test_a_stop_that_an_extension_wants_is_kept_unless_a_person_wants_another(cast, worker):
    run = cast.run()
    holder = claimed(run, worker)
    journal.append(holder, (events.StopRequested(enums.StopAfter.REASONING, "guard"),))
    run.refresh_from_db()
    assert run.stop_after == "reasoning"
    services.stop_run(user=cast.owner, run=run_for(cast.owner, run.public_id), after="acting")
    journal.append(holder, (events.StopRequested(enums.StopAfter.REASONING, "guard"),))
    run.refresh_from_db()
    assert run.stop_after == "acting"
