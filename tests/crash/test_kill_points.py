"""A worker is killed with SIGKILL at each place between two records of its run, and another one goes on.

Effects are counted outside the database: what may not happen twice does not, wherever the kill falls.
"""

import json
from dataclasses import dataclass

import pytest

from agentweb.engine.enums import Outcome
from agentweb.runs.models import Approval, Call, Message, Run
from tests.crash.record import check_record
from tests.crash.site import Asked, Person, Site
from tests.crash.traces import Order
from tests.waiting import until

SHORT = "[[tokens=5 rate=0 ttft=0]]"


def call(tool: str, key: str) -> str:
    return f"[[call {tool} {json.dumps({'key': key})}]] {SHORT}"


@dataclass(frozen=True)
class Place:
    """Where the worker dies; ``effects`` of a repeatable call and of one that is not, and whether the latter is
    then unknown. Without an order the tool is held, and the test kills from outside."""

    order: Order | None
    repeatable: int
    other: int
    unknown: bool


PLACES = {
    "before the intent": Place(Order("before", "ToolStarted", runs=2), repeatable=1, other=1, unknown=False),
    "after the intent": Place(Order("after", "ToolStarted", runs=2), repeatable=1, other=1, unknown=True),
    "in the effect": Place(None, repeatable=2, other=1, unknown=True),
    "after the effect": Place(Order("before", "ToolFinished", runs=2), repeatable=2, other=1, unknown=True),
    "after the result": Place(Order("after", "ToolFinished", runs=2), repeatable=1, other=1, unknown=False),
}


@pytest.mark.parametrize("name", PLACES)
def test_nothing_runs_twice_that_may_not_wherever_the_worker_dies(site: Site, person: Person, name: str):
    place, slug = PLACES[name], name.replace(" ", "-")
    repeatable, other = f"set-{slug}", f"pay-{slug}"
    [victim] = site.just(1)
    if place.order:
        site.traces.give(place.order)
    else:
        site.traces.hold(repeatable, other)
    setting, paying = person.asks(call("crash_set", repeatable)), person.asks(call("crash_pay", other))
    if place.order:
        site.dies(victim)
    else:
        until(lambda: site.traces.effects().keys() >= {repeatable, other}, what="both tools work")
        site.kill(victim)
        site.traces.release(repeatable, other)
    site.one_more()

    assert setting.ends().outcome == Outcome.ANSWERED
    if place.unknown:
        _waits_for_a_person(site, person, paying)
        _somebody_looks(site, person, paying, other)
    assert paying.ends().outcome == Outcome.ANSWERED
    effects = site.traces.effects()
    assert (effects[repeatable], effects[other]) == (place.repeatable, place.other)
    for run in (setting, paying):
        check_record(run)


def _waits_for_a_person(site: Site, person: Person, run: Asked) -> None:
    """The API and the page say that the outcome is unknown; nothing goes on."""
    run.comes_to(Run.Status.WAITING)
    [unknown] = person.gets("get", f"/runs/{run.id}/calls")["items"]
    assert (unknown["status"], unknown["result"]) == (Call.Status.UNKNOWN, None)
    assert person.gets("get", f"/runs/{run.id}")["status"] == Run.Status.WAITING
    page = person.sees(run)
    assert "Outcome unknown" in page and "the outcome of a tool is unknown" in page
    assert site.holder(run) == ""


def _somebody_looks(site: Site, person: Person, run: Asked, key: str) -> None:
    """What was not done is tried again, and what was done is not."""
    [unknown] = person.gets("get", f"/runs/{run.id}/calls")["items"]
    outcome = {"outcome": "done" if site.traces.effects()[key] else "not_done"}
    person.gets("post", f"/runs/{run.id}/calls/{unknown['id']}/resolution", json=outcome)


def test_a_run_whose_worker_dies_right_after_the_claim_goes_on(site: Site, person: Person):
    [victim] = site.just(1)
    site.traces.give(Order("after", "RunClaimed"))
    run = person.asks(call("crash_pay", "claimed"))
    site.dies(victim)
    site.one_more()
    assert run.ends().outcome == Outcome.ANSWERED
    assert site.traces.effects()["claimed"] == 1
    assert run.kinds[:4] == ["RunStarted", "RunClaimed", "RunClaimed", "RunResumed"]
    check_record(run)


def test_the_text_of_a_broken_answer_is_kept_and_the_new_attempt_stands_below_it(site: Site, person: Person, reader):
    [victim] = site.just(1)
    run = person.asks("[[tokens=100 rate=20]]")
    reading = reader(run)
    until(lambda: reading.tokens() >= 5, what="some words have come")
    site.kill(victim)
    seen = reading.newest_text()
    site.one_more()
    assert run.ends().outcome == Outcome.ANSWERED
    kept, answer = run.messages
    assert (kept.status, answer.status) == (Message.Status.INTERRUPTED, Message.Status.FINISHED)
    assert seen and kept.text.startswith(seen)
    assert answer.text.startswith("0@") and answer.text != kept.text
    reading.ends()
    reading.equals_rows(run)
    page = person.sees(run)
    assert page.index(str(kept.public_id)) < page.index(str(answer.public_id))
    check_record(run)


def test_an_approval_outlives_all_processes_and_the_decision_goes_on(site: Site, person: Person):
    site.just(1)
    run = person.asks(call("crash_ask", "asked"))
    run.comes_to(Run.Status.WAITING)
    site.kill(*site.workers, "web", "valkey")
    site.start("valkey", "web")
    site.one_more()
    site.wait_until_ready()
    [approval] = person.gets("get", f"/approvals?run={run.id}")["items"]
    assert (approval["status"], approval["may_decide"]) == (Approval.Status.PENDING, True)
    assert site.traces.effects()["asked"] == 0
    person.approves(approval)
    assert run.ends().outcome == Outcome.ANSWERED
    assert site.traces.effects()["asked"] == 1
    check_record(run)
