"""From kill -9 of a worker to the next event of each run that it held, with the lease and the sweep of the product.

A third of the runs wait for the first token, a third are in the middle of an answer, and a third in a tool. A second
worker lives; the killed one is not started again.
"""

import asyncio
import time
from uuid import UUID

import httpx2

from benchmarks.crashing import CrashSite, crash_site
from benchmarks.figure import Figure, Options, at_most
from benchmarks.site import AS_DELIVERED
from tests.waiting import until

RUNS = 12
STATES = (
    "[[tokens=5 ttft=300]]",
    "[[tokens=4000 rate=20 ttft=0]]",
    '[[call crash_look {"key": "look-held"}]] [[tokens=5 ttft=0 rate=0]]',
)
HELD = "look-held"
AT_WORK_S = 60.0
WAIT_S = 20
MOST_S = 120.0
MUST_S = float(AS_DELIVERED["LEASE_SECONDS"]) + float(AS_DELIVERED["SWEEP_SECONDS"]) + 2

_HELD = "SELECT r.public_id, r.last_event, w.name FROM runs_run r JOIN runs_workerprocess w ON w.id = r.owner_id"
_WORKERS = "SELECT count(*) FROM runs_workerprocess"


def measure(options: Options) -> list[Figure]:
    took = [seconds for _ in range(options.repetitions) for seconds in _once(options.runs or RUNS)]
    details = f"  {len(took)} runs: least {min(took):.1f} s"
    return [at_most("B8", max(took), "s at most", MUST_S, details=details)]


def _once(runs: int) -> list[float]:
    with crash_site(2, **AS_DELIVERED) as ours:
        until(lambda: ours.rows.of(_WORKERS)[0][0] == 2, AT_WORK_S, "both workers are ready")
        ours.traces.hold(HELD)
        took = asyncio.run(_play(ours, runs))
        ours.traces.release(HELD)
    print(
        f"  {len(took)} runs were held: next event after {', '.join(f'{each:.1f}' for each in sorted(took))} s",
        flush=True,
    )
    return took


async def _play(ours: CrashSite, runs: int) -> list[float]:
    async with ours.client() as client:
        person = ours.person(client)
        for number in range(runs):
            await person.send(await person.converse(), STATES[number % len(STATES)])
        await asyncio.to_thread(until, lambda: _at_work(ours, runs), AT_WORK_S, "all runs are at work")
        name = max(ours.busy(), key=lambda each: len(_held_by(ours, each)))
        orphans = _held_by(ours, name)
        ours.place.stack.kill(name)
        killed = time.monotonic()
        came = await asyncio.gather(*(_next_event(client, *orphan) for orphan in orphans))
    ours.place.stack.start(name)
    return [moment - killed for moment in came]


def _at_work(ours: CrashSite, runs: int) -> bool:
    """Every run has begun its tool or is being answered by the model server."""
    in_tools = len(range(2, runs, len(STATES)))
    return ours.traces.effects()[HELD] == in_tools and ours.place.model_stats()["open"] == runs - in_tools


def _held_by(ours: CrashSite, worker: str) -> list[tuple[str, int]]:
    pid = str(ours.place.stack.pid(worker))
    return [(str(UUID(str(run))), last) for run, last, name in ours.rows.of(_HELD) if name.rpartition(":")[2] == pid]


async def _next_event(client: httpx2.AsyncClient, run: str, last: int) -> float:
    """When it was there."""
    begun = time.monotonic()
    while time.monotonic() - begun < MOST_S:
        answer = await client.get(f"/api/v1/runs/{run}/events", params={"after": last, "wait": WAIT_S})
        if answer.raise_for_status().json()["items"]:
            break
    return time.monotonic()
