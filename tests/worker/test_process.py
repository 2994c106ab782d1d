"""A worker process moves runs: on real rows, a real Valkey and the scripted model."""

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db.models.functions import Now

from agentweb.engine.enums import Outcome, Reason
from agentweb.engine.events import MessageInterrupted, ModelRequested, TurnStarted
from agentweb.registry.models import Policy, PolicyRule
from agentweb.registry.services import enact
from agentweb.runs import journal, services
from agentweb.runs.decisions import decide
from agentweb.runs.models import Approval, Message, Run, WorkerProcess
from agentweb.runs.selectors import approval_for, run_for
from agentweb.worker import process as worker_process
from agentweb.worker.process import Process
from agentweb.worker.tasks import advance
from tests.cast import Cast, make_cast, make_worker
from tests.waiting import until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def people(valkey) -> Cast:
    return make_cast()


@pytest.fixture
def process(people, settings) -> Iterator[Process]:
    settings.SWEEP_SECONDS, settings.DRAIN_SECONDS = 0.1, 1
    started = Process()
    started.start()
    yield started
    started.stop()


def reread(run: Run) -> Run:
    return Run.objects.get(pk=run.pk)


def kinds(run: Run) -> list[str]:
    return list(run.events.order_by("number").values_list("kind", flat=True))


def in_background(process: Process, run: Run) -> threading.Thread:
    thread = threading.Thread(target=process.advance, args=[str(run.public_id)])
    thread.start()
    return thread


def test_a_rule_about_agent_team_and_person_means_those_of_the_run_and_the_record_names_it(people, process):
    policy = Policy.objects.create(name="house")
    named = {"agent": people.agent, "team": people.team, "user": people.owner, "role": "member"}
    PolicyRule.objects.create(policy=policy, name="no clock", tool="current_time", verdict="deny", **named)
    enact(policy=policy)
    run = people.run("What is the date today?")
    process.advance(str(run.public_id))
    (finished,) = run.events.filter(kind="ToolFinished")
    assert json.loads(finished.payload)["result"]["kind"] == "denied"
    assert json.loads(finished.payload)["rule"].startswith("house v1: no clock (current_time of the agent Assistant")


def test_a_run_is_answered_and_its_message_stored(people, process):
    run = people.run("What is the date today?")
    process.advance(str(run.public_id))
    run = reread(run)
    assert (run.status, run.outcome) == (Run.Status.FINISHED, Outcome.ANSWERED)
    answer = run.messages.filter(role=Message.Role.ASSISTANT).last()
    assert answer.status == Message.Status.FINISHED and answer.text
    assert kinds(run)[:2] == ["RunStarted", "RunClaimed"] and kinds(run)[-1] == "RunFinished"


def test_a_run_that_reached_its_limit_is_continued_to_its_end(people, process):
    people.agent.max_turns = 1
    people.agent.save()
    first = people.run("Compare today's weather in Beijing and Shenzhen for outdoor activity")
    process.advance(str(first.public_id))
    assert reread(first).outcome == Outcome.LIMIT_REACHED

    second = services.continue_run(user=people.owner, run=run_for(people.owner, first.public_id), turns=5)
    process.advance(str(second.public_id))

    assert reread(second).outcome == Outcome.ANSWERED
    assert "Beijing" in second.messages.last().text


def test_goals_are_checked_when_the_model_answers(people, process):
    people.agent.goals.create(kind="text", pattern=r"20\d\d")
    people.agent.goals.create(kind="file", path="report.md", position=1)
    people.agent.max_turns = 2
    people.agent.save()
    run = people.run("What is the date today?")

    process.advance(str(run.public_id))

    assert [(each["kind"], each["passed"]) for each in reread(run).goals] == [("text", True), ("file", False)]
    assert reread(run).outcome == Outcome.LIMIT_REACHED
    [note] = run.messages.filter(role=Message.Role.SYSTEM)
    assert "- The file report.md exists: There is no file report.md." in note.text
    assert kinds(run).count("NoteAdded") == 1


def test_the_celery_task_returns_only_when_the_run_has_come_to_rest(people, process, settings):
    run = people.run("What is the date today?")
    worker_process._current = process
    try:
        advance.apply(args=[str(run.public_id)]).get()
    finally:
        worker_process._current = None
    assert reread(run).status == Run.Status.FINISHED
    assert advance.name == "runs.advance"


def test_a_second_job_for_the_same_run_ends_at_once(people, process):
    run = people.run("What is the date today?")
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(process.advance, [str(run.public_id)] * 8))
    assert kinds(reread(run)).count("RunClaimed") == 1


def test_many_runs_advance_beside_each_other(people, process):
    runs = [people.run("What is the date today?") for _ in range(12)]
    with ThreadPoolExecutor(12) as pool:
        list(pool.map(process.advance, [str(run.public_id) for run in runs]))
    assert {reread(run).outcome for run in runs} == {Outcome.ANSWERED.value}


def test_a_job_for_a_run_that_is_not_there_ends_quietly(people, process):
    process.advance("00000000-0000-0000-0000-000000000000")
    assert not Run.objects.exists()


def test_a_run_is_cancelled_in_the_middle_of_its_answer(people, process):
    run = people.run("Write a very long text of 2000 words about rivers")
    working = in_background(process, run)
    until(lambda: "ModelRequested" in kinds(run), what="the model is asked")
    services.cancel_run(user=people.owner, run=run_for(people.owner, run.public_id))
    working.join(60)
    assert not working.is_alive()
    assert (reread(run).status, reread(run).outcome) == (Run.Status.FINISHED, Outcome.CANCELLED)


def test_a_run_that_asks_waits_without_a_worker_and_goes_on_after_the_decision(people, process):
    run = people.builder_run()
    process.advance(str(run.public_id))
    waiting = reread(run)
    assert (waiting.status, waiting.owner) == (Run.Status.WAITING, None)
    assert kinds(run)[-1] == "RunPaused"


def test_a_decided_run_goes_on_where_it_paused_and_runs_each_call_once(people, process):
    run = people.builder_run()
    process.advance(str(run.public_id))
    while (approval := Approval.objects.filter(run=run, status=Approval.Status.PENDING).first()) is not None:
        shown = approval_for(people.owner, approval.public_id)
        decide(user=people.owner, approval=shown, decision="approve", digest=shown.digest)
        process.advance(str(run.public_id))
    run = reread(run)
    assert (run.status, run.outcome) == (Run.Status.FINISHED, Outcome.ANSWERED)
    assert "RunResumed" in kinds(run)
    assert kinds(run).count("ToolStarted") == run.calls.count() == run.tool_calls > 0


def test_a_message_that_a_lost_worker_was_writing_is_kept_as_interrupted(people, process):
    run = people.run("What is the date today?")
    lost = make_worker("lost")
    claimed = journal.claim(str(run.public_id), lost)
    message = "11111111-1111-4111-8111-111111111111"
    journal.append(claimed, (TurnStarted(1), ModelRequested(message, 1, 1, "model", "digest")))
    WorkerProcess.objects.filter(pk=lost.pk).update(beat_at=Now() - timedelta(hours=1))
    process.advance(str(run.public_id))
    kept = Message.objects.get(public_id=message)
    assert kept.status == Message.Status.INTERRUPTED
    assert MessageInterrupted.__name__ in kinds(run)
    resumed = json.loads(run.events.get(kind="RunResumed").payload)
    assert resumed["recovered"] is True
    assert reread(run).outcome == Outcome.ANSWERED


def test_a_run_that_costs_its_worker_again_and_again_fails_visibly(people, process, settings):
    run = people.run("What is the date today?")
    Run.objects.filter(pk=run.pk).update(attempts=settings.MAX_ATTEMPTS)
    process.advance(str(run.public_id))
    run = reread(run)
    assert (run.outcome, run.reason) == (Outcome.FAILED, Reason.ATTEMPTS)


def test_an_error_of_ours_fails_the_run_with_a_sentence_and_no_internals(people, process, caplog):
    run = people.run("What is the date today?")
    run.snapshot.data = json.dumps({"not": "a snapshot"})
    run.snapshot.save()
    process.advance(str(run.public_id))
    run = reread(run)
    assert (run.outcome, run.reason) == (Outcome.FAILED, Reason.INTERNAL)
    assert "KeyError" in caplog.text and "KeyError" not in run.reason_text + json.dumps(run.error)


def test_a_drained_process_gives_its_runs_back_and_takes_no_more(people, process):
    run, other = people.run("Write a very long text of 2000 words about rivers"), people.run("Another question")
    working = in_background(process, run)
    until(lambda: "ModelRequested" in kinds(run), what="the model is asked")
    process.drain()
    working.join(60)
    assert not working.is_alive()
    assert (reread(run).status, reread(run).owner) == (Run.Status.QUEUED, None)
    process.advance(str(other.public_id))
    assert kinds(other) == ["RunStarted"]


def test_a_run_that_nobody_here_works_on_any_more_is_given_back_by_the_sweep(people, process):
    run = people.run("What is the date today?")
    journal.claim(str(run.public_id), process._worker)
    until(lambda: reread(run).status == Run.Status.QUEUED, what="the run is queued again")


def test_the_heart_beats_by_the_clock_of_the_database(people, settings):
    settings.BEAT_SECONDS, settings.LEASE_SECONDS = 0.05, 5
    started = Process()
    started.start()
    try:
        first = WorkerProcess.objects.get(pk=started._worker.pk).beat_at
        until(lambda: WorkerProcess.objects.get(pk=started._worker.pk).beat_at > first, what="a later beat")
    finally:
        started.stop()
    assert not WorkerProcess.objects.filter(pk=started._worker.pk).exists()


def test_a_stuck_loop_stops_the_heart(people, settings):
    settings.BEAT_SECONDS, settings.LEASE_SECONDS = 0.05, 0.2
    started, stuck = Process(), threading.Event()
    started.start()
    try:
        started._loop.call_soon_threadsafe(stuck.wait, 10)

        def silent() -> bool:
            fresh = Now() - timedelta(seconds=0.3)
            return not WorkerProcess.objects.filter(pk=started._worker.pk, beat_at__gt=fresh).exists()

        until(silent, what="the heart stands still")
        stuck.set()
        until(lambda: not silent(), what="it beats again")
    finally:
        stuck.set()
        started.stop()


def test_the_loop_is_not_the_thread_that_waits(people, process):
    names: list[str] = []
    done = threading.Event()

    async def note() -> None:
        names.append(threading.current_thread().name)
        done.set()

    asyncio.run_coroutine_threadsafe(note(), process._loop).result(2)
    assert done.is_set() and names == ["runs"]
