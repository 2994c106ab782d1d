"""Workers that leave: asked to, with their runs handed on whole, or taken down by a run again and again."""

import signal
from collections.abc import Callable

from agentweb.engine.enums import Outcome, Reason
from agentweb.runs.models import Message
from tests.crash.record import check_record
from tests.crash.site import LONG_S, Asked, Person, Site
from tests.crash.traces import Order
from tests.waiting import until

DRAIN_S = 2.0


def test_a_worker_that_is_asked_to_leave_hands_its_runs_on_and_no_call_is_unknown(site: Site, person: Person, reader):
    site.worker_env["DRAIN_SECONDS"] = str(DRAIN_S)
    site.just(0)
    site.just(2)
    acting = _paying(site, person, "leave-0")
    leaver = site.holder(acting)
    telling = _on(site, leaver, lambda: person.asks("[[tokens=140 rate=20 ttft=0]]"))
    reading = reader(telling)
    until(lambda: reading.tokens() >= 3, what="both runs are under way")
    site.signal(leaver, signal.SIGTERM)
    site.traces.release("leave-0")
    until(lambda: telling.kinds.count("RunClaimed") == 2, LONG_S, "the answer goes on elsewhere")
    assert site.holder(telling) not in ("", leaver)
    site.leaves(leaver, LONG_S)

    assert acting.ends().outcome == telling.ends().outcome == Outcome.ANSWERED
    assert "OutcomeUnknown" not in acting.kinds
    assert site.traces.effects()["leave-0"] == 1
    kept, answer = telling.messages
    assert (kept.status, answer.status) == (Message.Status.INTERRUPTED, Message.Status.FINISHED)
    reading.ends()
    reading.equals_rows(telling)
    for run in (acting, telling):
        check_record(run)


def _paying(site: Site, person: Person, key: str) -> Asked:
    """A run in the middle of a call that may not happen twice, with another call behind it."""
    site.traces.hold(key)
    run = person.asks(
        f'[[call crash_pay {{"key": "{key}"}}]] [[call crash_set {{"key": "{key}-set"}}]] [[tokens=5 rate=0]]'
    )
    until(lambda: site.traces.effects()[key] == 1, what="the tool works")
    return run


def _on(site: Site, worker: str, ask: Callable[[], Asked]) -> Asked:
    """Ask until this worker is the one that takes it; the others end by themselves."""
    while True:
        run = ask()
        holder = until(lambda run=run: site.holder(run), what="a worker has the run")
        if holder == worker:
            return run


def test_a_run_that_takes_its_worker_down_each_time_is_given_up_with_a_sentence(site: Site, person: Person):
    site.worker_env["MAX_ATTEMPTS"] = "2"
    site.just(0)
    [first] = site.just(1)
    site.traces.give(Order("after", "ModelRequested", again=True))
    run = person.asks("[[tokens=5 rate=0 ttft=0]]")
    site.dies(first)
    site.dies(site.one_more())
    site.one_more()
    assert run.ends().outcome == Outcome.FAILED
    assert run.row.reason == Reason.ATTEMPTS
    assert run.kinds.count("ModelRequested") == 2
    assert "given up" in person.sees(run)
    assert [message.status for message in run.messages] == [Message.Status.INTERRUPTED] * 2
    check_record(run)
