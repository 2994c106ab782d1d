"""One pub/sub connection of a web process, shared by everyone who follows a conversation in it."""

import asyncio
import contextlib
import json
import logging
from collections import defaultdict, deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import Enum
from weakref import WeakKeyDictionary

from django.conf import settings
from redis.asyncio.client import PubSub
from redis.exceptions import RedisError

from agentweb.runs.live import keys
from agentweb.runs.live.connections import listening_connection
from agentweb.runs.live.window import Frame

logger = logging.getLogger(__name__)

MAILBOX_FRAMES = 1000
FIRST_BACKOFF_S, LAST_BACKOFF_S = 0.1, 5.0
SUBSCRIBED_WITHIN_S = 2.0
READ_S = 10.0  # of silence, then a ping; as long again, and the connection is dead


class Notice(Enum):
    """What a mailbox gives in place of a frame."""

    LOOK_AGAIN = "frames may have been missed"
    SILENCE = "nothing came in time"


class Mailbox:
    """Frames for one follower, at most ``limit``: who is slower looks again at what Redis and the rows hold."""

    def __init__(self, limit: int = MAILBOX_FRAMES) -> None:
        self._frames: deque[Frame] = deque()
        self._limit = limit
        self._stale = False
        self._arrived = asyncio.Event()

    def put(self, frame: Frame) -> None:
        if len(self._frames) >= self._limit:
            self.miss()
        else:
            self._frames.append(frame)
            self._arrived.set()

    def miss(self) -> None:
        self._frames.clear()
        self._stale = True
        self._arrived.set()

    def clear(self) -> None:
        self._frames.clear()
        self._stale = False

    async def get(self, timeout_s: float) -> Frame | Notice:
        if not self._frames and not self._stale:
            self._arrived.clear()
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(timeout_s):  # unlike wait_for it makes no task for each frame
                    await self._arrived.wait()
        if self._stale:
            self._stale = False
            return Notice.LOOK_AGAIN
        return self._frames.popleft() if self._frames else Notice.SILENCE


class Hub:
    """Keeps the subscriptions over lost connections. After each (re)subscription its mailboxes look again."""

    def __init__(self) -> None:
        self._mailboxes: dict[str, set[Mailbox]] = defaultdict(set)
        self._confirmed: dict[str, asyncio.Event] = {}
        self._pubsub: PubSub | None = None
        self._in_order = asyncio.Lock()
        self._task: asyncio.Task[None] | None = None

    @property
    def connected(self) -> bool:
        return self._pubsub is not None

    @asynccontextmanager
    async def subscribed(self, conversation: str) -> AsyncIterator[Mailbox]:
        """A mailbox that gets every frame of the conversation from now on, or LOOK_AGAIN where it may miss some.
        Without Redis the mailbox stays silent until it is back."""
        channel, mailbox = keys.channel_of(conversation), Mailbox()
        self._mailboxes[channel].add(mailbox)
        try:
            if settings.REDIS_URL:
                await self._subscribe(channel)
            mailbox.clear()  # the follower looks now anyway
            yield mailbox
        finally:
            self._mailboxes[channel].discard(mailbox)
            if not self._mailboxes[channel]:
                await self._unsubscribe(channel)

    async def close(self) -> None:
        if self._task:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    async def _subscribe(self, channel: str) -> None:
        confirmed = self._confirmed.get(channel)
        if confirmed is None:
            confirmed = self._confirmed[channel] = asyncio.Event()
            await self._send(channel, subscribe=True)
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._listen(), name="live-hub")
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(confirmed.wait(), SUBSCRIBED_WITHIN_S)

    async def _unsubscribe(self, channel: str) -> None:
        self._mailboxes.pop(channel, None)
        self._confirmed.pop(channel, None)
        await self._send(channel, subscribe=False)

    async def _send(self, channel: str, *, subscribe: bool) -> None:
        """A failure here also ends the reading side, which connects anew and subscribes to all."""
        async with self._in_order:
            if self._pubsub is None:
                return
            act = self._pubsub.subscribe if subscribe else self._pubsub.unsubscribe
            with contextlib.suppress(RedisError, OSError):
                await act(channel)

    async def _listen(self) -> None:
        backoff_s = FIRST_BACKOFF_S
        while True:
            try:
                async with listening_connection() as redis, redis.pubsub() as pubsub:
                    await pubsub.ping()
                    async with self._in_order:
                        self._pubsub, backoff_s = pubsub, FIRST_BACKOFF_S
                        if self._confirmed:
                            await pubsub.subscribe(*self._confirmed)
                    await self._read(pubsub)
            except (RedisError, OSError) as error:
                logger.warning("The live connection to Redis was lost (%s); trying again.", type(error).__name__)
            finally:
                self._pubsub = None
            for confirmed in self._confirmed.values():
                confirmed.clear()
            await asyncio.sleep(backoff_s)
            backoff_s = min(backoff_s * 2, LAST_BACKOFF_S)

    async def _read(self, pubsub: PubSub) -> None:
        """Deliver what comes until the connection fails. After a silence Redis must answer a ping."""
        pinged = False
        while True:
            message = await pubsub.get_message(timeout=READ_S)
            if message is not None:
                pinged = False
                self._deliver(message)
            elif pinged:
                raise ConnectionError("Redis does not answer")
            else:
                pinged = True
                await pubsub.ping()

    def _deliver(self, message: dict) -> None:
        channel, kind = message["channel"], message["type"]
        if kind == "message":
            frame = json.loads(message["data"])
            for mailbox in self._mailboxes.get(channel, ()):
                mailbox.put(frame)
        elif kind == "subscribe" and channel in self._confirmed:
            self._confirmed[channel].set()
            for mailbox in self._mailboxes.get(channel, ()):
                mailbox.miss()


_hubs: WeakKeyDictionary[asyncio.AbstractEventLoop, Hub] = WeakKeyDictionary()


def hub() -> Hub:
    """The hub of the running loop."""
    return _hubs.setdefault(asyncio.get_running_loop(), Hub())
