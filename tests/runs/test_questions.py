"""What a run asks about itself waits and is decided like a call: once, by those who may, on record."""

import pytest
from django.db import IntegrityError, transaction

from agentweb.engine import enums, events
from agentweb.engine.usage import Usage
from agentweb.runs import decisions, journal, services, transcripts
from agentweb.runs.errors import Conflict, Forbidden, Invalid
from agentweb.runs.models import Approval, Run
from agentweb.runs.selectors import approval_for
from agentweb.runs.waiting import approvals_waiting_for
from tests.cast import make_worker
from tests.runs.replayed import replayed
from tests.runs.waiting_call import waiting_approvals
from tests.runs.waiting_question import CIRCLES, waiting_question

pytestmark = pytest.mark.django_db


def decide(cast, question: Approval, decision: str = "approve", **fields) -> Approval:
    return decisions.decide(user=cast.owner, approval=question, decision=decision, digest=question.digest, **fields)


def take_up(run: Run, *batch: events.Event) -> None:
    holder = journal.claim(str(run.public_id), make_worker("next"))
    assert holder is not None
    journal.append(holder, batch)


def test_it_waits_in_the_inbox_of_those_who_may_decide(cast):
    run = cast.run()
    question = waiting_question(cast, run)
    run.refresh_from_db()
    assert run.status == Run.Status.WAITING
    assert (question.call, question.question, question.facts) == (None, "circles", CIRCLES)
    assert list(approvals_waiting_for(cast.owner)) == [question]
    assert list(approvals_waiting_for(cast.reviewer)) == []
    asked = transcripts.load(run)[0].question
    assert asked is not None
    assert asked.waits
    assert transcripts.load(run)[0] == replayed(run)


@pytest.mark.parametrize(("decision", "status"), [("approve", "approved"), ("reject", "rejected")])
def test_a_decision_queues_the_run_which_records_it(cast, decision, status):
    run = cast.run()
    question = decide(cast, waiting_question(cast, run), decision, comment="so be it")
    run.refresh_from_db()
    assert (question.status, question.decided_by, run.status) == (status, cast.owner, Run.Status.QUEUED)
    asked = transcripts.load(run)[0].question
    assert asked is not None and asked.decision is not None
    assert (asked.decision.kind, asked.decision.by, asked.taken) == (decision, "owner", False)

    goes_on = {} if decision == "approve" else None
    about, kind = enums.Question.CIRCLES, enums.DecisionKind(decision)
    taken = events.QuestionDecided(
        str(question.public_id), about, enums.ApprovalStatus(status), kind, "owner", "so be it", goes_on
    )
    take_up(run, taken)
    run.refresh_from_db()
    question.refresh_from_db()
    assert question.taken_at
    transcript = transcripts.load(run)[0]
    assert (transcript.question is None) == (decision == "approve")
    assert transcript == replayed(run)


def test_it_is_decided_once_and_in_no_other_way(cast):
    question = waiting_question(cast, cast.run())
    for decision, fields in (("respond", {"response": "5"}), ("modify", {"arguments": {"more": 1}})):
        with pytest.raises(Invalid):
            decide(cast, question, decision, **fields)
    reviewers = approval_for(cast.reviewer, question.public_id)
    with pytest.raises(Forbidden):
        decisions.decide(user=cast.reviewer, approval=reviewers, decision="approve", digest=question.digest)
    with pytest.raises(Conflict):
        decisions.decide(user=cast.owner, approval=question, decision="approve", digest="another")
    decide(cast, question)
    with pytest.raises(Conflict, match="owner has decided already"):
        decide(cast, question, "reject")


def test_a_cancelled_run_withdraws_it(cast):
    run = cast.run()
    question = waiting_question(cast, run)
    run.conversation = question.run.conversation
    services.cancel_run(user=cast.owner, run=run)
    question.refresh_from_db()
    run.refresh_from_db()
    assert question.status == Approval.Status.CANCELLED
    asked, _usage = transcripts.load(run)
    assert asked.question is not None
    about = enums.Question.CIRCLES
    withdrawn = events.QuestionDecided(str(question.public_id), about, enums.ApprovalStatus.CANCELLED)
    end = events.RunFinished(enums.Outcome.CANCELLED, enums.Reason.BY_PERSON, "Cancelled.", Usage())
    take_up(run, withdrawn, end)
    run.refresh_from_db()
    assert transcripts.load(run)[0] == replayed(run)


def test_a_run_asks_one_question_at_a_time_and_each_is_about_a_call_or_the_run(cast):
    run = cast.run()
    question = waiting_question(cast, run)
    fields = {"run": run, "risk": "medium", "digest": "d", "rule": "r", "arguments": {}}
    call = waiting_approvals(cast, cast.builder_run())[0].call
    for wrong in ({"question": "circles"}, {"question": ""}, {"call": call, "question": "circles"}):
        with pytest.raises(IntegrityError), transaction.atomic():
            Approval.objects.create(**fields, **wrong)
    assert Approval.objects.filter(run=run).get() == question
