"""A worker that stood still for longer than its lease comes back, and finds that it has nothing to say any more."""

import json
import signal
from collections.abc import Iterator
from typing import Any

import pytest
import redis

from agentweb.engine.enums import Outcome
from agentweb.runs.live.keys import channel_of
from tests.crash.record import check_record
from tests.crash.site import LONG_S, Asked, Person, Site
from tests.waiting import until


class Frames:
    """All that is published about some runs from now on."""

    def __init__(self, url: str, *runs: Asked) -> None:
        self._pubsub = redis.Redis.from_url(url, decode_responses=True).pubsub()
        self._pubsub.subscribe(*(channel_of(run.conversation) for run in runs))
        for _ in runs:
            until(lambda: self._pubsub.get_message(timeout=1), what="the subscription")

    def read(self) -> Iterator[dict[str, Any]]:
        """Those that have come."""
        while message := self._pubsub.get_message(timeout=0.1):
            yield json.loads(message["data"])

    def close(self) -> None:
        self._pubsub.close()


@pytest.fixture
def stopped(site: Site) -> Iterator[str]:
    """The only worker, which the test stops; it is let go on whatever happens."""
    [name] = site.just(1)
    yield name
    if name in site.workers:
        site.signal(name, signal.SIGCONT)


def test_a_worker_that_lost_its_lease_writes_runs_and_publishes_nothing(site: Site, person: Person, stopped, reader):
    site.traces.hold("stopped-set", "stopped-pay")
    telling = person.asks("[[tokens=80 rate=10 ttft=0]]")
    acting = person.asks(
        '[[call crash_set {"key": "stopped-set"}]] [[call crash_pay {"key": "stopped-pay"}]] [[tokens=5 rate=0]]'
    )
    reading = reader(telling)
    until(lambda: reading.tokens() >= 3 and site.traces.effects()["stopped-set"] == 1, what="both runs are under way")
    site.signal(stopped, signal.SIGSTOP)
    site.traces.release("stopped-set")
    site.one_more()
    until(lambda: site.traces.effects()["stopped-pay"] == 1, LONG_S, "the other worker has one run")
    until(lambda: len(reading.texts) == 2 and reading.tokens() >= 3, LONG_S, "the other worker has the other run")
    ended, frames = _jobs_ended(site, stopped), Frames(site.redis_url, telling, acting)

    site.signal(stopped, signal.SIGCONT)
    until(lambda: _jobs_ended(site, stopped) == ended + 2, LONG_S, "the stopped worker has let both runs go")
    site.traces.release("stopped-pay")

    assert telling.ends().outcome == acting.ends().outcome == Outcome.ANSWERED
    assert {frame["epoch"] for frame in frames.read() if "epoch" in frame} == {2}
    frames.close()
    effects = site.traces.effects()
    assert (effects["stopped-set"], effects["stopped-pay"]) == (2, 1)
    for run in (telling, acting):
        assert run.kinds.count("RunClaimed") == 2
        check_record(run)
    reading.ends()
    reading.equals_rows(telling)


def _jobs_ended(site: Site, worker: str) -> int:
    return site.log(worker).count("succeeded in")
