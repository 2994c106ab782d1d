"""A program that follows a run by server-sent events, and goes on from the last id whenever the connection breaks."""

import json
import re
import threading
from collections.abc import Callable, Iterator
from typing import Any

import httpx2

from tests.crash.site import LONG_S, Asked
from tests.waiting import until

TOKEN = re.compile(r"\d+@\d{16} ")
_AGAIN_S = 0.05


class Reader:
    """Runs in a thread of its own. ``faults`` are holes, repeated events and texts that contradict each other; ``late``
    are the messages of which some words came only with the event that ended them."""

    def __init__(self, connect: Callable[[], httpx2.Client], run: Asked) -> None:
        self.numbers: list[int] = []
        self.texts: dict[str, str] = {}
        self.thinking: dict[str, str] = {}
        self.faults: list[str] = []
        self.late: list[str] = []
        self.connections = 0
        self._connect, self._run = connect, run
        self._last_id = "0"
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._follow, name=f"reader of {run.id}", daemon=True)
        self._thread.start()

    def tokens(self) -> int:
        return len(TOKEN.findall(self.newest_text()))

    def newest_text(self) -> str:
        return next(reversed(self.texts.values()), "")

    def ends(self) -> None:
        """Wait for the last event of the run."""
        until(self._over.is_set, LONG_S, "the reader sees the end")
        self._thread.join()

    def equals_rows(self, run: Asked) -> None:
        """Nothing was lost, nothing came twice: what was read is what is stored."""
        assert self.faults == []
        assert self.numbers == list(range(1, run.row.last_event + 1))
        stored = {str(row.public_id): row.text for row in run.messages if row.text}
        assert self.texts == stored

    def stop(self) -> None:
        self._over.set()

    def _follow(self) -> None:
        while not self._over.wait(_AGAIN_S):
            try:
                with self._connect() as client:
                    self._read(client)
            except httpx2.TransportError:
                continue

    def _read(self, client: httpx2.Client) -> None:
        headers = {"Accept": "text/event-stream", "Last-Event-ID": self._last_id}
        with client.stream("GET", f"/api/v1/runs/{self._run.id}/events", headers=headers) as answer:
            self.connections += 1
            for identity, data in _events(answer.iter_lines()):
                self._take(data)
                self._last_id = identity or self._last_id
                if data["kind"] == "RunFinished":
                    return self._over.set()

    def _take(self, event: dict[str, Any]) -> None:
        data = event["data"]
        if event["kind"] == "Delta":
            self._grow(self.texts if data["kind"] == "text" else self.thinking, data)
        elif "number" in event:
            if event["number"] != len(self.numbers) + 1:
                self.faults.append(f"event {event['number']} after {len(self.numbers)}")
            self.numbers.append(event["number"])
            if event["kind"] in ("MessageFinished", "MessageInterrupted"):
                self._finish(event["kind"], data)

    def _grow(self, texts: dict[str, str], data: dict[str, Any]) -> None:
        before, offset, text = texts.get(data["message"], ""), data["offset"], data["text"]
        known = before[offset : offset + len(text)]
        if offset > len(before) or not text.startswith(known):
            self.faults.append(f"{text[:40]!r} at {offset} after {len(before)} characters")
        texts[data["message"]] = before[:offset] + text + before[offset + len(text) :]

    def _finish(self, kind: str, data: dict[str, Any]) -> None:
        """The event of a message holds its whole text, so what was lost on the way is complete now."""
        identity = data["message"]["id"] if kind == "MessageFinished" else data["message"]
        text = data["message"]["text"] if kind == "MessageFinished" else data["text"]
        shown = self.texts.get(identity, "")
        if not text.startswith(shown):
            self.faults.append(f"{kind} says {text[-40:]!r}, shown was {shown[-40:]!r}")
        if text != shown:
            self.late.append(identity)
        if text:
            self.texts[identity] = text


def _events(lines: Iterator[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Id (or "") and data of each whole event; one that the connection breaks off in the middle is dropped."""
    fields: dict[str, str] = {}
    for line in lines:
        if line:
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
        elif fields:
            if "data" in fields:
                yield fields.get("id", ""), json.loads(fields["data"])
            fields = {}
