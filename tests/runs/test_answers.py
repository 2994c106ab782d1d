"""What comes from outside about a call: once, from those who may decide, and the run acts on it."""

import pytest

from agentweb.engine import events
from agentweb.engine.enums import CallStatus, Resolution
from agentweb.engine.usage import Usage
from agentweb.runs import answers, journal, selectors, services, transcripts, upkeep
from agentweb.runs.answers import Given
from agentweb.runs.errors import Conflict, Forbidden, Invalid, NotFound
from agentweb.runs.models import Call, CallAnswer, QueuedMessage, Run
from tests.cast import make_worker
from tests.runs.lost_call import suspended_calls, unknown_call
from tests.runs.waiting_call import waiting_approvals


@pytest.fixture
def lost(cast) -> Call:
    return unknown_call(cast, cast.builder_run())


def resolve(cast, call, outcome="done", **fields):
    return answers.resolve(**{"user": cast.owner, "call": call, "outcome": outcome} | fields)


@pytest.mark.parametrize(("outcome", "content"), [("done", " 5 rows\n"), ("not_done", ""), ("tell_model", "")])
def test_an_answer_is_stored_and_queues_the_run_which_is_told(cast, lost, outcome, content):
    resolve(cast, lost, outcome, content=content, comment="looked")
    run = Run.objects.get()
    assert run.status == Run.Status.QUEUED
    told = transcripts.load(run)[0].calls[str(lost.public_id)].answer
    assert (told.outcome, told.content, told.by, told.comment) == (
        Resolution(outcome),
        content.strip(),
        "owner",
        "looked",
    )


def test_a_result_that_is_too_long_for_the_model_is_kept_whole_for_people(cast, lost):
    resolve(cast, lost, content="x" * 50_000)
    told = transcripts.load(Run.objects.get())[0].calls[str(lost.public_id)].answer
    assert len(told.content) < 21_000 and "Cut" in told.content
    assert told.full == "x" * 50_000


def test_the_event_takes_the_answer_and_opens_the_call_again(cast, lost):
    resolve(cast, lost, "not_done")
    answer = CallAnswer.objects.get()
    holder = journal.claim(str(lost.run.public_id), make_worker("next"))
    call = str(lost.public_id)
    journal.append(
        holder,
        (events.OutcomeSettled(call, "write_file", Resolution.NOT_DONE, "owner", "", str(answer.public_id)),),
    )
    answer.refresh_from_db()
    assert answer.taken_at is not None
    entry = transcripts.load(Run.objects.get())[0].calls[call]
    assert (entry.status, entry.answer, entry.attempt) == (CallStatus.OPEN, None, 1)


def test_a_run_does_not_pause_over_an_answer_that_came_meanwhile(cast, lost):
    resolve(cast, lost)
    holder = journal.claim(str(lost.run.public_id), make_worker("next"))
    assert journal.append(holder, (events.RunPaused((str(lost.public_id),), Usage()),)).refused


def test_an_answer_whose_job_was_lost_is_found_by_the_sweep(cast, lost):
    resolve(cast, lost)
    Run.objects.update(status=Run.Status.WAITING)
    assert upkeep.queue_decided() == 1


@pytest.mark.parametrize(
    ("fields", "path"),
    [
        ({"outcome": "perhaps"}, "outcome"),
        ({"outcome": "not_done", "content": "5 rows"}, "content"),
        ({"outcome": "tell_model", "content": "5 rows"}, "content"),
        ({"content": "x" * 100_001}, "content"),
        ({"content": 5}, "content"),
        ({"comment": "x" * 10_001}, "comment"),
    ],
)
def test_an_answer_that_makes_no_sense_is_refused_with_the_field(cast, lost, fields, path):
    with pytest.raises(Invalid) as refused:
        resolve(cast, lost, **fields)
    assert [field for field, _message in refused.value.errors] == [path]
    assert not CallAnswer.objects.exists()


def test_the_second_answer_hears_who_was_first(cast, lost):
    resolve(cast, lost, "done")
    with pytest.raises(Conflict) as refused:
        resolve(cast, selectors.call_for(cast.admin, lost.public_id), "not_done", user=cast.admin)
    assert "owner was faster: It was done." in refused.value.text
    assert refused.value.state == {"status": "unknown", "outcome": "done", "given_by": "owner"}


def test_a_call_that_waits_for_a_decision_takes_no_answer(cast):
    approval = waiting_approvals(cast, cast.builder_run())[0]
    with pytest.raises(Conflict):
        resolve(cast, selectors.call_for(cast.owner, approval.call.public_id))


def test_after_a_cancel_there_is_nothing_to_settle(cast, lost):
    services.cancel_run(user=cast.owner, run=selectors.run_for(cast.owner, lost.run.public_id))
    with pytest.raises(Conflict):
        resolve(cast, lost)


def test_only_those_who_may_decide_may_answer(cast, lost):
    with pytest.raises(Forbidden):
        resolve(cast, selectors.call_for(cast.reviewer, lost.public_id), user=cast.reviewer)
    with pytest.raises(NotFound):
        selectors.call_for(cast.member, lost.public_id)


# --- results of suspended calls ---------------------------------------------------------------------------------------


@pytest.fixture
def asked(cast) -> list[Call]:
    return suspended_calls(cast, cast.builder_run("team"), 2)


def given(call, content="Rome", is_error=False) -> Given:
    return Given(str(getattr(call, "public_id", call)), content, is_error)


def supply(cast, run, *results, **fields):
    run = selectors.run_for(fields.get("user", cast.owner), run.public_id)
    return answers.supply(**{"user": cast.owner, "run": run, "results": results} | fields)


def test_a_result_is_stored_and_the_run_is_told(cast, asked):
    first, second = asked
    supply(cast, first.run, given(second, "no such city", True))
    calls = transcripts.load(Run.objects.get())[0].calls
    told = calls[str(second.public_id)].answer
    assert (told.outcome, told.content, told.is_error, told.by) == (None, "no such city", True, "owner")
    assert calls[str(first.public_id)].answer is None
    assert Run.objects.get().status == Run.Status.QUEUED


COLOURS = {"type": "object", "properties": {"colour": {"enum": ["red", "blue"]}}, "required": ["colour"]}


@pytest.mark.parametrize("content", [{"colour": "blue"}, '{ "colour": "blue" }'], ids=["value", "text"])
def test_an_answer_of_the_form_that_the_tool_wants_is_kept_as_json(cast, content):
    (call,) = suspended_calls(cast, cast.builder_run(), schema=COLOURS)
    supply(cast, call.run, given(call, content))
    told = transcripts.load(Run.objects.get())[0].calls[str(call.public_id)].answer
    assert told.content == '{"colour": "blue"}'


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ({"colour": "green"}, "results[0].content.colour"),
        ({}, "results[0].content.colour"),
        ("blue", "results[0].content"),
        (5, "results[0].content"),
        (float("nan"), "results[0].content"),
    ],
)
def test_an_answer_of_another_form_is_refused_with_its_place(cast, content, place):
    (call,) = suspended_calls(cast, cast.builder_run(), schema=COLOURS)
    with pytest.raises(Invalid) as refused:
        supply(cast, call.run, given(call, content))
    assert [name for name, _ in refused.value.errors] == [place]
    assert not CallAnswer.objects.exists()


def test_why_there_is_no_answer_needs_no_form(cast):
    (call,) = suspended_calls(cast, cast.builder_run(), schema=COLOURS)
    supply(cast, call.run, given(call, "nobody knows", True))
    assert CallAnswer.objects.get().content == "nobody knows"


def test_text_comes_with_the_last_results_and_is_read_before_the_agent_goes_on(cast, asked):
    first, second = asked
    supply(cast, first.run, given(first))
    supply(cast, first.run, given(second), text="and be quick")
    queued = QueuedMessage.objects.get()
    assert (queued.text, queued.delivery, queued.status) == ("and be quick", "steering", "queued")


@pytest.mark.parametrize(
    ("results", "text", "path"),
    [
        ([], "", "results"),
        ([], "yes", "text"),
        ([0, 0], "", "results[0].call"),
        (["11111111-2222-4333-8444-555555555555"], "", "results[0].call"),
        ([0, "nonsense"], "", "results[1].call"),
        ([0], "and be quick", "text"),
        ([0, 1], "x" * 100_001, "text"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused_and_changes_nothing(cast, asked, results, text, path):
    named = [given(asked[one] if isinstance(one, int) else one) for one in results]
    with pytest.raises(Invalid) as refused:
        supply(cast, asked[0].run, *named, text=text)
    assert refused.value.errors[0][0] == path
    assert not CallAnswer.objects.exists() and not QueuedMessage.objects.exists()
    assert Run.objects.get().status == Run.Status.WAITING


@pytest.mark.parametrize("content", ["", "  \n", 5, None, "x" * 100_001])
def test_a_result_must_be_text_that_says_something(cast, asked, content):
    with pytest.raises(Invalid) as refused:
        supply(cast, asked[0].run, given(asked[0], content))
    assert refused.value.errors[0][0] == "results[0].content"


def test_a_result_for_a_call_that_waits_for_something_else_is_refused_with_the_truth(cast):
    approval = waiting_approvals(cast, cast.builder_run())[0]
    with pytest.raises(Conflict) as refused:
        supply(cast, approval.run, given(approval.call))
    assert refused.value.state == {"calls": {str(approval.call.public_id): "waiting"}}


def test_the_second_result_hears_who_was_first(cast, asked):
    supply(cast, asked[0].run, given(asked[0]))
    with pytest.raises(Conflict) as refused:
        supply(cast, asked[0].run, given(asked[0]), user=cast.member)
    assert "owner was faster: Result given." in refused.value.text


def test_a_call_of_another_run_is_unknown_here(cast, asked):
    with pytest.raises(Invalid):
        supply(cast, cast.run(), given(asked[0]))


def test_a_run_that_is_cancelled_takes_no_results(cast, asked):
    services.cancel_run(user=cast.owner, run=selectors.run_for(cast.owner, asked[0].run.public_id))
    with pytest.raises(Conflict):
        supply(cast, asked[0].run, given(asked[0]))


def test_a_reviewer_gives_no_results(cast, asked):
    with pytest.raises(Forbidden):
        supply(cast, asked[0].run, given(asked[0]), user=cast.reviewer)


def test_the_event_takes_the_result(cast, asked):
    supply(cast, asked[0].run, given(asked[0]))
    answer = CallAnswer.objects.get()
    holder = journal.claim(str(asked[0].run.public_id), make_worker("next"))
    journal.append(
        holder, (events.ResultReceived(str(asked[0].public_id), "ask_city", "owner", str(answer.public_id)),)
    )
    answer.refresh_from_db()
    assert answer.taken_at is not None


# --- a run that is held since its worker was lost, where recovery is switched off --------------------------------


@pytest.fixture
def held(cast) -> Run:
    run = cast.run()
    holder = journal.claim(str(run.public_id), make_worker("w"))
    journal.append(holder, (events.RunPaused((), Usage(), lost=True),))
    return selectors.run_for(cast.owner, run.public_id)


def test_a_held_run_goes_on_when_a_person_says_so(cast, held):
    assert held.held_at is not None
    services.resume_run(user=cast.owner, run=held)
    run = Run.objects.get()
    assert (run.status, run.held_at) == (Run.Status.QUEUED, None)
    with pytest.raises(Conflict):
        services.resume_run(user=cast.owner, run=held)


def test_nothing_else_but_a_wish_to_end_moves_a_held_run(cast, held):
    assert not journal.mark_queued(held)
    assert upkeep.queue_decided() == 0
    services.cancel_run(user=cast.owner, run=held)
    assert Run.objects.get().status == Run.Status.QUEUED


def test_a_reviewer_may_not_let_it_go_on(cast, held):
    with pytest.raises(Forbidden):
        services.resume_run(user=cast.reviewer, run=selectors.run_for(cast.reviewer, held.public_id))


def test_a_run_is_held_over_a_decision_but_not_over_a_cancel(cast):
    run = cast.run()
    holder = journal.claim(str(run.public_id), make_worker("w"))
    services.cancel_run(user=cast.owner, run=selectors.run_for(cast.owner, run.public_id))
    assert journal.append(holder, (events.RunPaused((), Usage(), lost=True),)).refused
