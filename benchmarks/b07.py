"""100 runs with tools, and 12 times a worker that is at work gets SIGKILL at a random moment of the whole.

Effects are counted by what the tools leave in a file of their own. A person approves what is asked and, where it is
not known whether a payment happened, looks there and says so.
"""

import asyncio
import random

from benchmarks.crashing import CrashSite, crash_site, task
from benchmarks.figure import Figure, Options, exactly
from tests.waiting import until

RUNS = 100
KILLS = 12
WORKERS = 2
EVENTS = (6, 26)  # of each run, between which the kills are spread over all runs
BUSY_S = 60.0
_EVENTS = "SELECT SUM(last_event) FROM runs_run"


def measure(options: Options) -> list[Figure]:
    runs = options.runs or RUNS
    kills = max(1, round(KILLS * runs / RUNS))
    with crash_site(WORKERS) as ours:
        settled = asyncio.run(_play(ours, runs, kills))
        verdict = ours.judged()
        twice, effects = ours.twice(), ours.traces.effects()
    missing = [number for number in range(runs) if not effects[f"pay-{number}"]]
    print(f"  {verdict.claims - runs} claims more than runs, of which some are for approvals; {settled} calls settled")
    print(f"  {verdict.outcomes}")
    details = "\n".join([*map(str, twice.items()), *verdict.faults[:5], *verdict.unfinished])
    answered = verdict.outcomes.get("finished answered done", 0)
    return [
        exactly("B7 effects", len(twice), "effects that happened twice", 0, details),
        exactly("B7 missing", len(missing), "effects that never happened", 0),
        exactly("B7 gaps", verdict.gaps + len(verdict.faults), "records with a gap or another fault", 0),
        exactly("B7 ended", runs - answered, "runs that were not answered in the end", 0),
    ]


async def _play(ours: CrashSite, runs: int, kills: int) -> int:
    """How many calls a person had to settle."""
    async with ours.client() as client:
        person = ours.person(client)

        async def one(number: int) -> None:
            sent = await person.send(await person.converse(), task(f"{number}", ask=number % 4 == 0))
            await person.attend(sent.run)

        tasks = [asyncio.create_task(one(number)) for number in range(runs)]
        moments = sorted(random.sample(range(EVENTS[0] * runs, EVENTS[1] * runs), kills))
        for number, moment in enumerate(moments):
            await asyncio.to_thread(until, lambda: _events(ours) >= moment, BUSY_S, f"{moment} events")  # noqa: B023
            busy = await asyncio.to_thread(until, ours.busy, BUSY_S, "a worker is at work")
            name = random.choice(busy)
            await asyncio.to_thread(ours.place.stack.kill, name)
            ours.place.stack.start(name)
            print(f"  kill {number + 1}: {name}, {sum(each.done() for each in tasks)} runs had ended", flush=True)
        await asyncio.gather(*tasks)
        return person.settled


def _events(ours: CrashSite) -> int:
    return int(ours.rows.of(_EVENTS)[0][0] or 0)
