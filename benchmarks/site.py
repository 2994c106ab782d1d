"""The product as people run it, for one benchmark: real processes on a new folder and a new database.

The product is Valkey, the workers and the web process. The model server (`tests/fake_llm.py`) and whoever watches are
not part of it, and their CPU is not counted.
"""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2

from benchmarks import machine
from tests import databases
from tests.e2e.program import Program
from tests.stack import Stack, stack_on

HERE = Path(__file__).resolve().parent
AS_DELIVERED = {"LEASE_SECONDS": "30", "SWEEP_SECONDS": "5", "DRAIN_SECONDS": "10"}
"""The product's own times, where the stack of the tests has shorter ones."""

ECHO, PLAIN = "Echo", "Plain"


@dataclass(frozen=True)
class Site:
    """``tokens`` by user name, ``agents`` (ids) by name.

    Two agents use the fake model: Echo has every tool and 100 turns, Plain has no tool; see `furnish.py`.
    """

    stack: Stack
    workers: int
    tokens: dict[str, str]
    agents: dict[str, str]
    model: httpx2.Client
    """Kept, since to make one costs more than what some benchmarks measure."""

    @property
    def model_root(self) -> str:
        """The model server, for /stats, /reset and /go/KEY."""
        return self.stack.model_url.removesuffix("/v1")

    @property
    def worker_pids(self) -> list[int]:
        return [self.stack.pid(f"worker-{number}") for number in range(1, self.workers + 1)]

    @property
    def pids(self) -> list[int]:
        """All processes of the product."""
        return [*self.worker_pids, self.stack.pid("web"), self.stack.pid("valkey")]

    def cpu_seconds(self) -> float:
        return machine.cpu_seconds(self.pids)

    def pss_kb(self) -> int:
        return machine.pss_kb(self.pids)

    def program(self, person: str = "ann") -> Program:
        """A program that acts for a person over the HTTP API."""
        return Program(self.stack.client(self.tokens[person]), self.agents)

    def session(self, person: str = "ann") -> str:
        """A session cookie, "name=value", of a person who signs in for it."""
        with self.stack.client() as client:
            client.get("/accounts/login/")
            form = {"login": person, "password": self.stack.passwords[person]}
            answer = client.post("/accounts/login/", data=form | {"csrfmiddlewaretoken": client.cookies["csrftoken"]})
            assert answer.status_code == 302, answer.text
            return f"sessionid={client.cookies['sessionid']}"

    def model_stats(self) -> dict[str, Any]:
        """What the model server counted since `reset_model`."""
        return dict(self.model.get(f"{self.model_root}/stats").json())

    def reset_model(self) -> None:
        self.model.post(f"{self.model_root}/reset").raise_for_status()


@contextmanager
def site(workers: int = 1, database: str = "", address: str = "", **variables: str) -> Iterator[Site]:
    """The product, ready and furnished, and the model server; everything is ended and removed behind it.

    ``variables`` are settings such as WORKER_SLOTS. The database is the empty one at ``address``, or a new one of the
    kind that ``database`` names, else SQLite or what AGENTWEB_TEST_DB says.
    """
    with (
        tempfile.TemporaryDirectory(prefix="agentweb-bench-") as name,
        nullcontext(address) if address else databases.new_database(Path(name), "agentweb_bench", database) as found,
        stack_on(Path(name) / "data", found, **(AS_DELIVERED | variables)) as stack,
    ):
        stack.start("model")
        stack.begin(workers)
        code = (HERE / "furnish.py").read_text()
        said = stack.manage("shell", "-c", code, MODEL_URL=stack.model_url).stdout.splitlines()[-1]
        with httpx2.Client(trust_env=False) as model:
            yield Site(stack, workers, model=model, **json.loads(said))
