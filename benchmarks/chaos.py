"""Kills servers at random while people work: `python -m benchmarks.chaos --minutes 10`.

Workers, Valkey, the web process and PostgreSQL get SIGKILL one after the other and are started again after a moment.
People talk to an agent with tools meanwhile, write to runs that are live, approve, cancel now and then, and say what
became of calls that were lost. In the end everything must come to rest, and nothing may be lost, doubled or left
behind. The status is 0 when that is so.
"""

import argparse
import asyncio
import random
import shutil
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from benchmarks import machine
from benchmarks.crashing import CrashSite, Verdict, crash_site, task
from benchmarks.figure import exactly
from benchmarks.people import Person
from benchmarks.postgres import Postgres, postgres

WORKERS = 2
TALKERS = 16
DATABASE = "PostgreSQL"
PRODUCT = (*(f"worker-{number}" for number in range(1, WORKERS + 1)), "web", "valkey")
LIKELY = {"worker-1": 3, "worker-2": 3, "web": 2, "valkey": 2, DATABASE: 2}
APART_S, AWAY_S = (2.0, 8.0), (0.0, 3.0)
CANCELLED_EACH, STEERED_EACH, ASKED_EACH = 5, 3, 2  # conversations
LOGS = Path(__file__).resolve().parent.parent / "build" / "chaos"


@dataclass
class Chaos:
    """One site under fire. ``died`` counts processes that ended without being killed, such as a worker that finds no
    database."""

    ours: CrashSite
    server: Postgres
    killed: Counter[str] = field(default_factory=Counter)
    died: Counter[str] = field(default_factory=Counter)
    cancelled: int = 0

    async def play(self, minutes: float) -> Person:
        """What people did, who stop beginning conversations when the time is over, and wait for what they began."""
        until = time.monotonic() + 60 * minutes
        async with self.ours.client() as client:
            person = self.ours.person(client)
            talkers = [asyncio.create_task(self._talk(person, number, until)) for number in range(TALKERS)]
            watch = asyncio.create_task(self._keep_up())
            try:
                await self._kill(until)
                done = await asyncio.gather(*talkers, return_exceptions=True)
            finally:
                for each in (watch, *talkers):
                    each.cancel()
        for error in done:
            if isinstance(error, BaseException):
                print(f"  a person gave up: {error!r}")
        return person

    async def _kill(self, until: float) -> None:
        while time.monotonic() < until:
            await asyncio.sleep(random.uniform(*APART_S))
            name = random.choices(list(LIKELY), list(LIKELY.values()))[0]
            away = random.uniform(*AWAY_S)
            self.killed[name] += 1
            print(f"  {until - time.monotonic():4.0f} s left: kill -9 {name}, away for {away:.1f} s", flush=True)
            if name == DATABASE:
                self.server.kill()
                await asyncio.sleep(away)
                await asyncio.to_thread(self.server.start)
            else:
                await asyncio.to_thread(self.ours.place.stack.kill, name)
                await asyncio.sleep(away)
                await asyncio.to_thread(self.ours.place.stack.start, name)

    async def _keep_up(self) -> None:
        """Start again what has ended by itself, as whatever supervises the processes does."""
        stack = self.ours.place.stack
        while True:
            await asyncio.sleep(1)
            for name in PRODUCT:
                try:
                    ended = psutil.Process(stack.pid(name)).status() == psutil.STATUS_ZOMBIE
                except KeyError:
                    continue  # being killed
                if ended:
                    self.died[name] += 1
                    stack.stop(name)
                    stack.start(name)

    async def _talk(self, person: Person, talker: int, until: float) -> None:
        number = 0
        while time.monotonic() < until:
            number += 1
            await self._converse(person, f"{talker}.{number}", talker + number)

    async def _converse(self, person: Person, key: str, number: int) -> None:
        """Two messages, the second perhaps while the first is answered."""
        conversation = await person.converse()
        first = await person.send(conversation, task(f"{key}a", ask=number % ASKED_EACH == 0))
        if number % STEERED_EACH == 0:
            await asyncio.sleep(random.random())
        elif number % CANCELLED_EACH == 0:
            await asyncio.sleep(random.random())
            await person.ask("POST", f"/runs/{first.run}/cancel")
            self.cancelled += 1
        else:
            await person.attend(first.run)
        second = await person.send(conversation, task(f"{key}b", ask=False))
        for run in {first.run, second.run}:
            await person.attend(run)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.chaos", description=__doc__)
    parser.add_argument("--minutes", type=float, default=10)
    minutes = parser.parse_args().minutes
    print(machine.description(), flush=True)
    with postgres() as server, crash_site(WORKERS, server.address) as ours:
        chaos = Chaos(ours, server)
        person = asyncio.run(chaos.play(minutes))
        ended = _told(chaos, person, ours.judged())
        _keep_logs(ours.place.stack.folder)
    return 0 if ended else 1


def _told(chaos: Chaos, person: Person, verdict: Verdict) -> bool:
    """Print what came of it; whether all is well."""
    twice, lost = chaos.ours.twice(), {each.message for each in person.accepted} - set(verdict.messages)
    failed = {words: count for words, count in verdict.outcomes.items() if words.startswith("finished failed")}
    print(f"  kills: {dict(chaos.killed)}; ended by themselves: {dict(chaos.died)}")
    messages = len(person.accepted)
    print(f"  {verdict.runs} runs, {verdict.claims} claims, {messages} messages, {person.settled} calls settled")
    print(f"  outcomes: {verdict.outcomes}; cancelled by people: {chaos.cancelled}")
    for line in (*map(str, twice.items()), *lost, *verdict.faults, *verdict.unfinished):
        print(f"  {line}")
    figures = [
        exactly("effects twice", len(twice), "effects", 0),
        exactly("number gaps", verdict.gaps, "runs with a gap", 0),
        exactly("other faults", len(verdict.faults), "records of runs", 0),
        exactly("lost messages", len(lost), "messages", 0),
        exactly("runs not ended", len(verdict.unfinished), "runs that have not ended nor wait for a person", 0),
        exactly("runs failed", sum(failed.values()), "runs that ended with an error", 0),
    ]
    for figure in figures:
        print(figure.sentence())
    return all(figure.passed for figure in figures)


def _keep_logs(folder: Path) -> None:
    """What the processes wrote, for whoever looks for the cause of a fault."""
    LOGS.mkdir(parents=True, exist_ok=True)
    for log in folder.glob("*.log"):
        shutil.copy(log, LOGS / log.name)
    print(f"  logs: {LOGS}")


if __name__ == "__main__":
    sys.exit(main())
