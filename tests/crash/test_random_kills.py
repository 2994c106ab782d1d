"""Many runs over two workers, of which one or the other is killed at moments that a seeded dice chooses."""

import random

from agentweb.engine.enums import Outcome
from agentweb.runs.models import Run
from tests.crash.record import check_record
from tests.crash.site import LONG_S, Asked, Person, Site
from tests.waiting import until

RUNS = 20
KILLS = 5
EVENTS = range(7 * RUNS, 24 * RUNS)  # six of each run come before the start, about twenty after it
SEED = 7


def test_twenty_runs_outlive_five_kills_with_no_effect_twice(site: Site, person: Person):
    dice = random.Random(SEED)
    site.just(2)
    site.traces.hold("start")
    runs = [person.asks(_task(number)) for number in range(RUNS)]
    until(lambda: site.traces.effects()["start"] == RUNS, LONG_S, "all runs stand at the start")
    site.traces.release("start")
    for moment in sorted(dice.sample(EVENTS, KILLS)):
        until(lambda moment=moment: _events(runs) >= moment or not _live(runs), LONG_S, f"{moment} events")
        busy = until(lambda: _busy(site, runs) or not _live(runs), LONG_S, "a worker is at work")
        site.kill(dice.choice(busy if isinstance(busy, list) else site.workers))
        site.one_more()
    outcomes = [_end(person, run) for run in runs]
    assert set(outcomes) <= {Outcome.ANSWERED, Outcome.CANCELLED}
    assert sum(run.kinds.count("RunClaimed") for run in runs) >= RUNS + KILLS, "the kills hit runs at work"
    for number, run in enumerate(runs):
        check_record(run)
        _check_effects(site, number, run)


def _task(number: int) -> str:
    return (
        '[[call crash_look {"key": "start"}]] '
        f'[[call crash_look {{"key": "look-{number}"}} || crash_set {{"key": "set-{number}"}}]] '
        f'[[call crash_pay {{"key": "pay-{number}"}}]] [[tokens=10 rate=40 ttft=0.1]]'
    )


def _events(runs: list[Asked]) -> int:
    rows = Run.objects.filter(public_id__in=[run.id for run in runs])
    return sum(rows.values_list("last_event", flat=True))


def _busy(site: Site, runs: list[Asked]) -> list[str]:
    """The workers that have runs."""
    return sorted({holder for run in runs if run.row.status == Run.Status.RUNNING and (holder := site.holder(run))})


def _live(runs: list[Asked]) -> bool:
    moving = (Run.Status.QUEUED, Run.Status.RUNNING)
    return Run.objects.filter(public_id__in=[run.id for run in runs], status__in=moving).exists()


def _end(person: Person, run: Asked) -> str:
    """A payment whose outcome is unknown waits for the person, who gives it up."""
    if run.comes_to(Run.Status.WAITING, Run.Status.FINISHED).status == Run.Status.WAITING:
        assert "OutcomeUnknown" in run.kinds
        person.cancels(run)
    return run.ends().outcome


def _check_effects(site: Site, number: int, run: Asked) -> None:
    effects = site.traces.effects()
    assert effects[f"pay-{number}"] <= 1
    if run.row.outcome == Outcome.ANSWERED:
        assert effects[f"pay-{number}"] == 1
    assert effects[f"look-{number}"] >= 1 and effects[f"set-{number}"] >= 1
