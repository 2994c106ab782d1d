"""A person at work with a program: sends, decides, says what became of lost calls, and asks again where need be.

What they were told is kept, so that it can be looked for in the end.
"""

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import httpx2

from tests.crash.traces import Traces

AGAIN_S = 0.3
LOOK_S = 1.0
PATIENCE_S = 300.0
TOO_LATE = 409  # what was to be done is done: an earlier request got through although its answer was lost


@dataclass(frozen=True)
class Accepted:
    """A message that the site has said it took."""

    text: str
    message: str
    run: str
    delivered: str


class Person:
    """``traces`` tell the person what really happened, as a bank statement would."""

    def __init__(self, client: httpx2.AsyncClient, agent: str, traces: Traces) -> None:
        self._client, self._agent, self._traces = client, agent, traces
        self.accepted: list[Accepted] = []
        self.settled = 0

    async def converse(self) -> str:
        return str((await self.ask("POST", "/conversations", json={"agent": self._agent}))["id"])

    async def send(self, conversation: str, text: str) -> Accepted:
        """Say something; sent again under the same key until the site says that it has it."""
        headers = {"Idempotency-Key": uuid4().hex}
        address = f"/conversations/{conversation}/messages"
        told = await self.ask("POST", address, json={"text": text}, headers=headers)
        self.accepted.append(Accepted(text, told["message"], told["run"], told["delivered"]))
        return self.accepted[-1]

    async def attend(self, run: str) -> Mapping[str, Any]:
        """Do what the run waits for, until it has ended; the run as it ended."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            told = await self.ask("GET", f"/runs/{run}")
            if told["status"] == "finished":
                return dict(told)
            if told["status"] == "waiting":
                await self._help(run)
            await asyncio.sleep(LOOK_S)
        raise TimeoutError(f"run {run} is {told['status']} after {PATIENCE_S:g} s")

    async def _help(self, run: str) -> None:
        pending = await self.ask("GET", "/approvals", params={"status": "pending", "run": run})
        for approval in pending["items"]:
            decision = {"decision": "approve", "digest": approval["digest"], "comment": "looked at"}
            await self.ask("POST", f"/approvals/{approval['id']}/decision", json=decision)
        for call in (await self.ask("GET", f"/runs/{run}/calls"))["items"]:
            if call["status"] == "unknown":
                happened = self._traces.effects()[call["arguments"]["key"]]
                outcome = {"outcome": "done" if happened else "not_done"}
                await self.ask("POST", f"/runs/{run}/calls/{call['id']}/resolution", json=outcome)
                self.settled += 1

    async def ask(self, method: str, path: str, **more: Any) -> Any:
        """The JSON of the answer. Servers that are away or in trouble are asked again, while patience lasts."""
        deadline = time.monotonic() + PATIENCE_S
        while True:
            try:
                answer = await self._client.request(method, f"/api/v1{path}", **more)
                if answer.is_success:
                    return answer.json()
                if answer.status_code == TOO_LATE:
                    return {}
                trouble = f"{answer.status_code} {answer.text[:300]}"
                if not answer.is_server_error:
                    raise AssertionError(f"{method} {path}: {trouble}")
            except httpx2.TransportError as error:
                trouble = repr(error)
            if time.monotonic() > deadline:
                raise TimeoutError(f"{method} {path}: {trouble}")
            await asyncio.sleep(AGAIN_S)
