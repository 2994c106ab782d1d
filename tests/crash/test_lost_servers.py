"""Valkey or the web process is killed in mid-answer and comes back: nothing is lost, and nothing comes twice."""

import time

from agentweb.engine.enums import Outcome
from agentweb.runs.models import Run
from tests.crash.record import check_record
from tests.crash.site import LONG_S, Person, Site
from tests.waiting import until

ANSWER = "[[tokens=100 rate=15 ttft=0]]"
SHORT = "[[tokens=5 rate=0 ttft=0]]"
PROMPT_S = 10.0


def test_an_answer_goes_on_while_valkey_is_killed_and_started_again(site: Site, person: Person, reader):
    site.just(1)
    run = person.asks(ANSWER)
    reading = reader(run)
    until(lambda: reading.tokens() >= 5, what="some words have come")
    site.kill("valkey")
    site.start("valkey")
    assert run.ends().outcome == Outcome.ANSWERED
    assert run.kinds.count("RunClaimed") == 1
    reading.ends()
    reading.equals_rows(run)
    check_record(run)
    later = person.asks(SHORT)
    assert later.ends().outcome == Outcome.ANSWERED
    check_record(later)


def test_a_program_goes_on_reading_where_it_was_when_the_web_process_is_killed(site: Site, person: Person, reader):
    site.just(1)
    run = person.asks(ANSWER)
    reading = reader(run)
    until(lambda: reading.tokens() >= 5, what="some words have come")
    site.kill("web")
    site.start("web")
    until(lambda: reading.connections == 2, LONG_S, "the program is connected again")
    reading.ends()
    reading.equals_rows(run)
    assert reading.late == []
    assert run.row.outcome == Outcome.ANSWERED and len(run.messages) == 1
    check_record(run)


def test_a_message_is_stored_while_the_broker_is_down_and_answered_when_it_is_back(site: Site, person: Person):
    site.just(1)
    conversation = person.new_conversation()
    site.kill("valkey")
    asked_at = time.monotonic()
    run = person.says(conversation, SHORT)
    assert time.monotonic() - asked_at < PROMPT_S
    assert (run.row.status, run.kinds) == (Run.Status.QUEUED, ["RunStarted"])
    assert "Queued" in person.sees(run)
    site.start("valkey")
    assert run.ends().outcome == Outcome.ANSWERED
    check_record(run)
