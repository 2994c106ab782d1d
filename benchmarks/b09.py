"""Model calls made over model calls needed, when nothing is killed: 100 runs with tools and approvals."""

import asyncio

from benchmarks.crashing import CrashSite, crash_site, task
from benchmarks.figure import Figure, Options, exactly

RUNS = 100


def measure(options: Options) -> list[Figure]:
    runs = options.runs or RUNS
    with crash_site(workers=2) as ours:
        ours.place.reset_model()
        asyncio.run(_play(ours, runs))
        made = ours.place.model_stats()["requests"]
        verdict = ours.judged()
    needed = sum(4 if _asks(number) else 3 for number in range(runs))
    details = f"  {made} made, {needed} needed; {verdict.outcomes}"
    return [exactly("B9", made / needed, "model calls for each that was needed", 1, details)]


def _asks(number: int) -> bool:
    return number % 4 == 0


async def _play(ours: CrashSite, runs: int) -> None:
    async with ours.client() as client:
        person = ours.person(client)

        async def one(number: int) -> None:
            sent = await person.send(await person.converse(), task(f"{number}", ask=_asks(number)))
            ended = await person.attend(sent.run)
            assert ended["outcome"] == "answered", ended

        await asyncio.gather(*map(one, range(runs)))
