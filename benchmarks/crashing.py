"""The product with tools that leave traces outside of it, so that effects can be counted whatever is killed."""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx2

from benchmarks.people import Person
from benchmarks.rows import Rows
from benchmarks.site import ECHO, Site, site
from tests.crash.traces import FOLDER, Traces

HERE = Path(__file__).resolve().parent
SHORT = {"LEASE_SECONDS": "4", "SWEEP_SECONDS": "1", "DRAIN_SECONDS": "5"}
"""A lease that ends soon, so that kills can follow each other; how long people wait is another benchmark's matter."""


WORK = {"CRASH_WORK_S": "0.5"}
"""What a tool takes behind its effect, in which a kill leaves a call of which nobody knows what became."""


@dataclass(frozen=True)
class CrashSite:
    """The processes, the traces of tools, and the rows as they are stored."""

    place: Site
    traces: Traces
    rows: Rows

    def person(self, client: httpx2.AsyncClient) -> Person:
        return Person(client, self.place.agents[ECHO], self.traces)

    def client(self) -> httpx2.AsyncClient:
        return httpx2.AsyncClient(
            base_url=self.place.stack.url,
            headers={"Authorization": f"Bearer {self.place.tokens['ann']}"},
            timeout=60,
            limits=httpx2.Limits(max_connections=None),
            trust_env=False,
        )

    def busy(self) -> list[str]:
        """The workers that hold runs."""
        held = self.rows.of("SELECT w.name FROM runs_run r JOIN runs_workerprocess w ON w.id = r.owner_id")
        pids = {int(name.rpartition(":")[2]) for (name,) in held}
        names = [f"worker-{number}" for number in range(1, self.place.workers + 1)]
        return [name for name in names if self.place.stack.pid(name) in pids]

    def twice(self) -> dict[str, int]:
        """Effects that may happen only once but did more often. Keys of repeatable tools begin with look or set."""
        counted = self.traces.effects()
        return {key: times for key, times in counted.items() if times > 1 and not key.startswith(("look", "set"))}

    def judged(self) -> "Verdict":
        """What the record says of all runs, looked at by a process of its own."""
        code = (HERE / "judge.py").read_text()
        return Verdict(**json.loads(self.place.stack.manage("shell", "-c", code).stdout.splitlines()[-1]))


@dataclass(frozen=True)
class Verdict:
    """``messages``: ids of all that people's messages became. ``faults`` are of the records of runs, in words."""

    runs: int
    gaps: int
    faults: list[str]
    unfinished: list[str]
    outcomes: dict[str, int]
    claims: int
    messages: list[str]


@contextmanager
def crash_site(workers: int, address: str = "", **variables: str) -> Iterator[CrashSite]:
    """As `site`; its agent Echo also has the tools of tests/crash/tools.py."""
    with tempfile.TemporaryDirectory(prefix="agentweb-traces-") as folder:
        more = SHORT | WORK | {"TOOLBOX_MODULES": "tests.crash.tools", FOLDER: folder} | variables
        with site(workers=workers, address=address, **more) as place:
            yield CrashSite(place, Traces(Path(folder)), Rows(str(place.stack.settings.database_url)))


def task(key: str, *, ask: bool, tokens: int = 30, rate: int = 30) -> str:
    """What to tell the model server: two reads and writes side by side, a payment, perhaps one with consent, words."""
    consent = f'[[call crash_ask {{"key": "ask-{key}"}}]]' if ask else ""
    return (
        f'{key} [[call crash_look {{"key": "look-{key}"}} || crash_set {{"key": "set-{key}"}}]] '
        f'[[call crash_pay {{"key": "pay-{key}"}}]] {consent} [[say=5 tokens={tokens} rate={rate} ttft=0.1]]'
    )
