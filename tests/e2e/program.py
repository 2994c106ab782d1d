"""The site as a program sees it: the HTTP API with a person's token."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2

WAIT_SECONDS = 10
END_SECONDS = 60.0


@dataclass(frozen=True)
class Told:
    """What one run did. ``calls``: name and status in order; ``asked``: how many calls a person decided about.

    ``files``: what the workspace holds at the end, text by path."""

    calls: tuple[tuple[str, str], ...]
    asked: int
    answer: str
    outcome: str
    usage: Mapping[str, Any]
    files: Mapping[str, str]

    @property
    def names(self) -> list[str]:
        return [name for name, _status in self.calls]


class Program:
    """``client`` sends the token; addresses below are those of the API's first version."""

    def __init__(self, client: httpx2.Client, agents: Mapping[str, str]) -> None:
        self._client = client
        self._agents = agents

    def get(self, address: str, **query: Any) -> Any:
        return self._json(self._client.get(f"/api/v1{address}", params=query))

    def post(self, address: str, **body: Any) -> Any:
        return self._json(self._client.post(f"/api/v1{address}", json=body))

    def converse(self, agent: str, visibility: str = "private") -> str:
        """A new conversation; its id."""
        return str(self.post("/conversations", agent=self._agents[agent], visibility=visibility)["id"])

    def send(self, conversation: str, text: str) -> str:
        """A message that begins a run; the run's id."""
        return str(self.post(f"/conversations/{conversation}/messages", text=text)["run"])

    def events(self, run: str, after: int = 0) -> list[dict[str, Any]]:
        return list(self.get(f"/runs/{run}/events", after=after)["items"])

    def kinds(self, run: str) -> list[str]:
        return [event["kind"] for event in self.events(run)]

    def pending(self, run: str) -> list[dict[str, Any]]:
        return list(self.get("/approvals", status="pending", run=run)["items"])

    def decide(self, approval: Mapping[str, Any], decision: str, **more: Any) -> Any:
        return self.post(f"/approvals/{approval['id']}/decision", decision=decision, digest=approval["digest"], **more)

    def finish(self, run: str, at_pause: Callable[[str], object] | None = None) -> dict[str, Any]:
        """Wait for the end, acting at each pause; the run as it ended."""
        deadline, after = time.monotonic() + END_SECONDS, 0
        while time.monotonic() < deadline:
            told = self.get(f"/runs/{run}/events", after=after, wait=WAIT_SECONDS)
            after = told["next"]
            kinds = [event["kind"] for event in told["items"]]
            if "RunFinished" in kinds:
                return dict(self.get(f"/runs/{run}"))
            if "RunPaused" in kinds and at_pause is not None:
                at_pause(run)
        raise AssertionError(f"run {run} did not end: {self.kinds(run)}")

    def told(self, run: str, asked: int) -> Told:
        """Everything about a run that ended."""
        ended = self.get(f"/runs/{run}")
        conversation = ended["conversation"]
        messages = self.get(f"/conversations/{conversation}/messages")["items"]
        calls = self.get(f"/runs/{run}/calls")["items"]
        files = self.files(conversation)
        answer = [each["text"] for each in messages if each["role"] == "assistant"][-1]
        shown = tuple((call["name"], "failed" if call["is_error"] else call["status"]) for call in calls)
        return Told(shown, asked, answer, ended["outcome"], ended["usage"], files)

    def put(self, conversation: str, path: str, text: str) -> None:
        """A file of the workspace."""
        address = f"/api/v1/conversations/{conversation}/files/{path}"
        self._client.put(address, content=text.encode()).raise_for_status()

    def files(self, conversation: str) -> dict[str, str]:
        base = f"/conversations/{conversation}/files"
        paths = [item["path"] for item in self.get(base)["items"]]
        return {path: self._client.get(f"/api/v1{base}/{path}").text for path in paths}

    def play(self, agent: str, text: str) -> Told:
        """Ask, approve whatever is asked, and tell how it went."""
        asked: list[str] = []

        def approve(run: str) -> None:
            for approval in self.pending(run):
                self.decide(approval, "approve", comment="looked at")
                asked.append(approval["id"])

        run = self.send(self.converse(agent), text)
        self.finish(run, approve)
        return self.told(run, len(asked))

    @staticmethod
    def _json(answer: httpx2.Response) -> Any:
        assert answer.status_code < 300, f"{answer.request.url}: {answer.status_code} {answer.text}"
        return answer.json()
