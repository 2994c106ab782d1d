"""One load of streaming runs on the product: how much CPU it takes, how late tokens come, and when the runs end."""

import asyncio
import time
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import httpx2

from benchmarks import machine
from benchmarks.load import SPREAD_S, Load
from benchmarks.site import PLAIN, Site
from benchmarks.watchers import Watched, watching
from tests.waiting import until

OPEN_S = 60  # until all runs have started; the product gives a silent model server a minute
PATIENCE, AT_LEAST_S = 3.0, 30.0  # times the nominal time, and more


@dataclass(frozen=True)
class Spent:
    """CPU seconds of each part of the product."""

    worker: float
    web: float
    valkey: float

    @property
    def total(self) -> float:
        return self.worker + self.web + self.valkey

    def __sub__(self, before: "Spent") -> "Spent":
        return Spent(self.worker - before.worker, self.web - before.web, self.valkey - before.valkey)


@dataclass(frozen=True)
class Streamed:
    """``spent`` counts from before the first token to behind the end of the last run; starts have a benchmark of
    their own. ``late_ms``: by how much the model server itself was late at most in that time."""

    load: Load
    spent: Spent
    late_ms: float
    watched: Watched | None

    @property
    def tokens(self) -> int:
        """That were made, of all runs."""
        return self.load.runs * self.load.tokens

    def us_per_token(self, cpu_s: float) -> float:
        return cpu_s / self.tokens * 1e6


def spent(site: Site) -> Spent:
    return Spent(
        machine.cpu_seconds(site.worker_pids),
        machine.cpu_seconds([site.stack.pid("web")]),
        machine.cpu_seconds([site.stack.pid("valkey")]),
    )


def stream(site: Site, load: Load, *, watched: bool) -> Streamed:
    """Start all runs, wait until their streams are open, then count until the last run has ended.

    AssertionError when a run does not end, or when a socket missed a token.
    """
    conversations = converse(site, load.runs)
    session = site.session() if watched else ""
    with watching(site.stack.url, session, conversations) if watched else nullcontext() as sockets:
        keys, runs = open_streams(site, load, conversations)
        site.reset_model()
        before = spent(site)
        release(site, keys, load.begins(time.time()))
        saw = sockets.result(patience_s(load)) if sockets else None
        if saw is None:
            wait_for_ends(site, load, runs)
        after = spent(site)
    late_ms = site.model_stats()["late_max_ms"]
    if saw:
        assert None not in saw.ended, f"{saw.ended.count(None)} ends were not seen"
        assert set(saw.tokens) == {load.tokens}, f"sockets saw from {min(saw.tokens)} tokens on of {load.tokens}"
    return Streamed(load, after - before, late_ms, saw)


def converse(site: Site, runs: int) -> list[str]:
    """New conversations of ann, by id."""
    program = site.program()
    return [program.converse(PLAIN) for _ in range(runs)]


def start(site: Site, conversations: Sequence[str], messages: Sequence[str], at_once: int = 8) -> list[str]:
    """Begin a run in each conversation with its message; the ids of the runs."""
    return asyncio.run(_post_all(site, conversations, messages, at_once))


def open_streams(site: Site, load: Load, conversations: Sequence[str]) -> tuple[list[str], list[str]]:
    """Start a run in each conversation; when all wait for their first token, the keys to release them, and the runs."""
    keys = [f"{conversation}-{time.time_ns()}" for conversation in conversations]
    runs = start(site, conversations, [load.message(key) for key in keys])
    until(lambda: site.model_stats()["open"] == load.runs, OPEN_S, "all streams are open")
    return keys, runs


def release(site: Site, keys: Sequence[str], begins: Sequence[float]) -> None:
    """Let each of these streams begin at its moment (seconds since 1970)."""
    asyncio.run(_release(site, keys, begins))


async def _post_all(site: Site, conversations: Sequence[str], messages: Sequence[str], at_once: int) -> list[str]:
    gate = asyncio.Semaphore(at_once)
    headers = {"Authorization": f"Bearer {site.tokens['ann']}"}
    async with httpx2.AsyncClient(base_url=site.stack.url, headers=headers, timeout=60, trust_env=False) as client:

        async def post(conversation: str, message: str) -> str:
            async with gate:
                answer = await client.post(f"/api/v1/conversations/{conversation}/messages", json={"text": message})
                assert answer.status_code == 202, answer.text
                return str(answer.json()["run"])

        return list(await asyncio.gather(*map(post, conversations, messages)))


async def _release(site: Site, keys: Sequence[str], begins: Sequence[float]) -> None:
    async with httpx2.AsyncClient(base_url=site.model_root, timeout=60, trust_env=False) as client:

        async def go(key: str, moment: float) -> None:
            await asyncio.sleep(max(0.0, moment - time.time()))
            (await client.post(f"/go/{key}")).raise_for_status()

        await asyncio.gather(*map(go, keys, begins))


def wait_for_ends(site: Site, load: Load, runs: Sequence[str]) -> list[float]:
    """When each run ended (seconds since 1970). Hardly asks while they stream, so that asking costs nothing."""
    until(lambda: site.model_stats()["open"] == 0, patience_s(load), "all streams end")
    program = site.program()

    def ended(run: str) -> float:
        told = until(lambda: _finished(program.get(f"/runs/{run}")), 30, f"run {run} ends") or {}
        assert told["outcome"] == "answered", told
        return datetime.fromisoformat(told["finished_at"]).timestamp()

    return [ended(run) for run in runs]


def _finished(told: dict[str, Any]) -> dict[str, Any] | None:
    return told if told["status"] == "finished" else None


def patience_s(load: Load) -> float:
    return AT_LEAST_S + PATIENCE * (load.seconds + SPREAD_S)
