"""What turns and conversations have spent, as people and programs read it."""

from decimal import Decimal

from django.utils import timezone

from agentweb.engine import events
from agentweb.engine.codec import encode
from agentweb.engine.enums import ErrorKind
from agentweb.engine.messages import AssistantMessage
from agentweb.engine.usage import Usage
from agentweb.runs import journal, totals, transcripts
from agentweb.runs.models import Message, Run
from agentweb.runs.projection import Projection
from tests.cast import make_cast, make_worker

SPENT = Usage(input_tokens=1200, cached_tokens=200, output_tokens=30, thinking_tokens=10, cost=Decimal("0.0102"))


def test_a_conversation_has_spent_what_its_runs_have(db):
    cast = make_cast()
    run = cast.run()
    assert totals.of_conversation(run.conversation) == Usage()
    Run.objects.filter(pk=run.pk).update(status="finished", outcome="answered", input_tokens=5, cost="0.25", turns=2)
    other = Run.objects.get(pk=run.pk)
    other.pk, other.public_id, other.estimated_calls = None, "6a0f7b5e-0000-4000-8000-000000000001", 1
    other.save()
    whole = totals.of_conversation(run.conversation)
    assert (whole.input_tokens, whole.turns, whole.cost, whole.estimated_calls) == (10, 4, Decimal("0.5"), 1)


def test_a_turn_has_spent_what_its_messages_have_those_that_broke_off_too(db):
    run = make_cast().run()
    fault = events.ModelFault(ErrorKind.TIMEOUT, "Too slow.", True)
    ids = [f"6a0f7b5e-0000-4000-8000-00000000000{n}" for n in range(4)]
    batch = (
        events.TurnStarted(1),
        events.ModelRequested(ids[0], 1, 1, "m", "d"),
        events.MessageInterrupted(ids[0], "Half", "", fault, Usage(output_tokens=4, estimated_calls=1)),
        events.ModelRetried(1, 1, fault, 2.04),
        events.ModelRequested(ids[1], 1, 2, "m", "d"),
        events.MessageFinished(AssistantMessage(ids[1], "Whole"), SPENT),
        events.TurnStarted(2),
        events.ModelRequested(ids[2], 2, 1, "m", "d"),
        events.MessageInterrupted(ids[2], "", "", fault),
        events.ModelReplaced(2, "m", "spare", fault),
    )
    Projection(run, timezone.now()).apply(batch)
    first, second = totals.of_turns(run.messages.all())
    assert (first.turn, first.usage) == (1, SPENT + Usage(output_tokens=4, estimated_calls=1))
    assert (second.turn, second.usage) == (2, Usage())
    extra = {str(row.public_id): row.extra for row in Message.objects.filter(public_id__in=ids)}
    assert extra == {
        ids[0]: {"fault": "Too slow.", "wait": 2.0},
        ids[1]: {},
        ids[2]: {"fault": "Too slow.", "by": "spare"},
    }


def test_what_was_stored_before_calls_were_marked_as_estimated_can_be_read():
    old = {name: value for name, value in encode(SPENT).items() if name != "estimated_calls"}
    assert totals.stored(old) == SPENT


def test_a_run_that_is_taken_up_again_still_asks_the_fallback(db):
    run = make_cast().run()
    holder = journal.claim(str(run.public_id), make_worker())
    message, fault = "6a0f7b5e-0000-4000-8000-000000000001", events.ModelFault(ErrorKind.AUTH, "Refused.")
    journal.append(holder, (events.TurnStarted(1), events.ModelRequested(message, 1, 1, "m", "d")))
    journal.append(
        holder, (events.MessageInterrupted(message, "", "", fault), events.ModelReplaced(1, "m", "s", fault))
    )
    transcript, _usage = transcripts.load(Run.objects.get(pk=run.pk))
    assert (transcript.fallback, transcript.turn_open, transcript.attempt) == (True, True, 0)
