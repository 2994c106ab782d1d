"""Starting a turn: CPU of all processes of the product up to the model request, and a burst of 50 messages in a second.

CPU: messages are posted one by one, each in a new conversation, by the form of the page and by the API; the model
server stays silent, so that nothing but the start of the turn is counted, the answer to the poster included.
Burst: 50 watched conversations, a message in each at a random moment of one second; added is what passes from
posting to the first token on the socket, since the model server answers at once.
"""

import asyncio
import random
import time
from dataclasses import dataclass
from uuid import uuid4

import httpx2
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin

from benchmarks import machine
from benchmarks.figure import Figure, Options, at_most, exactly
from benchmarks.load import Delays
from benchmarks.site import ECHO, PLAIN, Site, site
from tests.fake_llm import TOKEN_RE
from tests.waiting import until

TURNS = 60
GROUP = 20  # turns, whose sum of ticks is exact enough
WARM = 5
BURST = 50
SILENT = "Speak. [[tokens=3 rate=0 ttft=90]]"
AT_ONCE = "Speak. [[tokens=20 rate=20 ttft=0]]"
PATIENCE_S = 60.0


def measure(options: Options) -> list[Figure]:
    turns, burst = options.runs or TURNS, min(options.runs or BURST, BURST)
    with site(WORKER_SLOTS=str(3 * TURNS)) as place:
        with place.stack.client() as client:
            page, api = Page(place, client), Api(place, client)
            costs = [_cpu(place, api, turns), _cpu(place, page, turns)]
        came = asyncio.run(Burst(place, burst).play())
    delays = Delays.of(came.added) if came.added else Delays(PATIENCE_S * 1000, PATIENCE_S * 1000, PATIENCE_S * 1000)
    details = f"burst of {burst}: p50 {delays.p50:.0f} ms, p95 {delays.p95:.0f} ms, most {delays.most:.0f} ms"
    return [
        at_most("B18 API", costs[0] * 1000, "ms of CPU", 25, 12),
        at_most("B18 page", costs[1] * 1000, "ms of CPU", 25, 12),
        exactly("B18 refused", came.refused, "of the burst", 0),
        at_most("B18 first token", delays.p50, "ms added (p50)", 400, details=details),
    ]


class Api:
    """Posts as a program does."""

    name = "API"

    def __init__(self, place: Site, client: httpx2.Client) -> None:
        self._client, self._headers = client, {"Authorization": f"Bearer {place.tokens['ann']}"}
        self._agent = place.agents[ECHO]

    def converse(self) -> str:
        body = {"agent": self._agent}
        return str(self._client.post("/api/v1/conversations", json=body, headers=self._headers).json()["id"])

    def post(self, conversation: str, text: str) -> None:
        address = f"/api/v1/conversations/{conversation}/messages"
        self._client.post(address, json={"text": text}, headers=self._headers).raise_for_status()


class Page(Api):
    """Posts as the form of the page does, by a person who is signed in."""

    name = "page"

    def __init__(self, place: Site, client: httpx2.Client) -> None:
        super().__init__(place, client)
        client.get("/accounts/login/")
        form = {"login": "ann", "password": place.stack.passwords["ann"]}
        client.post("/accounts/login/", data=form | {"csrfmiddlewaretoken": client.cookies["csrftoken"]})
        self._form = {"X-CSRFToken": client.cookies["csrftoken"], "HX-Request": "true"}

    def post(self, conversation: str, text: str) -> None:
        form = {"text": text, "delivery": "auto", "key": str(uuid4())}
        self._client.post(f"/c/{conversation}/send", data=form, headers=self._form).raise_for_status()


def _cpu(place: Site, poster: Api, turns: int) -> float:
    """Seconds of CPU for one turn: the median of groups of turns."""
    place.reset_model()
    for conversation in [poster.converse() for _ in range(WARM)]:
        poster.post(conversation, "[[tokens=3 rate=0 ttft=0]]")
    until(lambda: place.model_stats()["requests"] == WARM, PATIENCE_S, "the first runs ask")
    time.sleep(1)
    place.reset_model()
    costs = []
    for group in range(max(1, turns // GROUP)):
        conversations = [poster.converse() for _ in range(min(GROUP, turns))]
        before = {name: machine.cpu_seconds([pid]) for name, pid in _named(place).items()}
        for number, conversation in enumerate(conversations, group * GROUP + 1):
            poster.post(conversation, SILENT)
            until(lambda number=number: place.model_stats()["requests"] >= number, PATIENCE_S, "the request comes")
        spent = {name: machine.cpu_seconds([pid]) - before[name] for name, pid in _named(place).items()}
        costs.append(sum(spent.values()) / len(conversations))
        shares = ", ".join(f"{name} {cpu / len(conversations) * 1000:.1f}" for name, cpu in spent.items())
        print(f"{poster.name}: {costs[-1] * 1000:.1f} ms a turn ({shares})", flush=True)
    return sorted(costs)[len(costs) // 2]


def _named(place: Site) -> dict[str, int]:
    return {name: place.stack.pid(name) for name in ("web", "worker-1", "valkey")}


@dataclass(frozen=True)
class Came:
    """``added``: microseconds from posting to the first token, for each message that was taken."""

    added: list[int]
    refused: int


class Burst:
    """Messages of many conversations within one second."""

    def __init__(self, place: Site, size: int) -> None:
        self._place, self._size = place, size
        self._headers = {"Authorization": f"Bearer {place.tokens['ann']}"}

    async def play(self) -> Came:
        program, session = self._place.program(), self._place.session()
        conversations = [program.converse(PLAIN) for _ in range(self._size)]
        async with httpx2.AsyncClient(base_url=self._place.stack.url, timeout=PATIENCE_S, trust_env=False) as client:
            sockets = [await self._socket(session, conversation) for conversation in conversations]
            answers = await asyncio.gather(
                *(
                    self._one(client, socket, conversation, random.random())
                    for socket, conversation in zip(sockets, conversations, strict=True)
                )
            )
            for socket in sockets:
                await socket.close()
        added = [each for each in answers if each is not None]
        return Came(added, len(answers) - len(added))

    async def _socket(self, session: str, conversation: str) -> ClientConnection:
        url = self._place.stack.url
        return await connect(
            f"{url.replace('http', 'ws', 1)}/ws/conversations/{conversation}/",
            origin=Origin(url),
            additional_headers={"Cookie": session},
            compression=None,
            ping_interval=None,
            proxy=None,
        )

    async def _one(
        self, client: httpx2.AsyncClient, socket: ClientConnection, conversation: str, wait_s: float
    ) -> int | None:
        """Microseconds until the first token; None when the message was refused or no token came."""
        await asyncio.sleep(wait_s)
        begun = time.perf_counter()
        posted = asyncio.create_task(
            client.post(f"/api/v1/conversations/{conversation}/messages", json={"text": AT_ONCE}, headers=self._headers)
        )
        try:
            async with asyncio.timeout(PATIENCE_S):
                while not TOKEN_RE.search(str(await socket.recv())):
                    pass
            came = time.perf_counter()
            return round((came - begun) * 1e6) if (await posted).is_success else None
        except (TimeoutError, httpx2.HTTPError):
            return None
