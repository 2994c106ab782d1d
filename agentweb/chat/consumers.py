"""The socket of one page: everything that happens in one conversation, from the server to the browser only."""

import asyncio
import contextlib
import json
import logging
from contextlib import aclosing
from typing import Any
from urllib.parse import parse_qs
from uuid import UUID

from channels.generic.websocket import AsyncWebsocketConsumer
from django import db
from redis.exceptions import RedisError
from structlog.contextvars import bind_contextvars

from agentweb.chat.admission import Refusal, fingerprint, groups_of, person, refusal
from agentweb.chat.blocks import BlockWriter
from agentweb.runs import live
from agentweb.runs.live import START, Cursor, Frame
from agentweb.teams.models import User

logger = logging.getLogger(__name__)

PING_S = 20.0  # below what proxies and browsers call silence
CHECK_S = 30.0  # between two looks at session and rights
SLOW_S = 20.0  # a reader that takes nothing for this long comes back with its cursor
TOO_SLOW, FAILED = 4408, 4500

_as_json = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


class ConversationConsumer(AsyncWebsocketConsumer):
    """Accepts first and closes with a code then, since a page cannot see why a handshake was refused."""

    def __init__(self, ping_s: float = PING_S, check_s: float = CHECK_S, slow_s: float = SLOW_S) -> None:
        super().__init__()
        self._ping_s, self._check_s, self._slow_s = ping_s, check_s, slow_s

    async def connect(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []
        self._user: User | None = None
        self._groups: list[str] = []
        self._wake = asyncio.Event()
        self._check_now = self._hinted = False
        self._sending = asyncio.Lock()
        self._session = self.scope["session"].session_key
        self._conversation: UUID = self.scope["url_route"]["kwargs"]["conversation"]
        self._run, self._after = _place(self.scope["query_string"])
        await self.accept()
        if (code := await self._refusal()) is not None:
            await self._end(code)
            return
        bind_contextvars(conversation=str(self._conversation), user=self._user and self._user.pk)
        await self._join_hints()
        self._tasks = [asyncio.create_task(self._stream()), asyncio.create_task(self._watch())]

    async def disconnect(self, code: int) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        with contextlib.suppress(RedisError, OSError):
            for group in self._groups:
                await self.channel_layer.group_discard(group, self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Pages act by requests; what comes over the socket is not read."""

    async def hint(self, event: dict[str, Any]) -> None:
        """The person's inbox changed. Said soon, and once for several: nothing waits here for a slow reader."""
        self._hinted = True
        self._wake.set()

    async def signed_out(self, event: dict[str, Any]) -> None:
        if event["session"] == fingerprint(self._session):
            await self._end(Refusal.SIGNED_OUT)
        else:
            self._check_now = True
            self._wake.set()

    async def _end(self, code: int) -> None:
        """Daphne takes a plain int only."""
        await self.close(code=int(code))

    async def _refusal(self) -> Refusal | None:
        user = await person(self._session)
        if user is None:
            return Refusal.SIGNED_OUT
        code = await refusal(user, self._conversation, self._run)
        if code is not None and self._user is not None:
            return Refusal.FORBIDDEN  # it could be seen before
        self._user = user
        return code

    async def _join_hints(self) -> None:
        assert self._user is not None
        try:
            for group in await groups_of(self._user):
                await self.channel_layer.group_add(group, self.channel_name)
                self._groups.append(group)
        except (RedisError, OSError, db.Error):
            logger.warning("No hints for this socket: Redis or the database does not answer.")

    async def _stream(self) -> None:
        blocks = BlockWriter(asyncio.get_running_loop().time)
        try:
            async with aclosing(live.follow_conversation(self._conversation, self._run, self._after)) as frames:
                async for frame in frames:
                    for shown in await blocks.frames(frame):
                        await self._say(shown)
        except TimeoutError:
            await self._end(TOO_SLOW)
        except Exception:
            logger.exception("A socket failed; its page connects again.")
            await self._end(FAILED)

    async def _watch(self) -> None:
        """Keep proxies from closing a silent socket, and close it ourselves when the person may not read on. Passes on
        hints."""
        loop = asyncio.get_running_loop()
        next_check = loop.time() + self._check_s
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), min(self._ping_s, max(0.0, next_check - loop.time())))
            self._wake.clear()
            if self._check_now or loop.time() >= next_check:
                self._check_now = False
                next_check = loop.time() + self._check_s
                if (code := await self._refusal_later()) is not None:
                    await self._end(code)
                    return
            hinted, self._hinted = self._hinted, False
            try:
                await self._say({"hint": {"inbox": 1}} if hinted else {"ping": 1})
            except TimeoutError:
                await self._end(TOO_SLOW)
                return

    async def _refusal_later(self) -> Refusal | None:
        try:
            return await self._refusal()
        except db.Error:
            logger.exception("A socket's rights could not be read.")
            return None

    async def _say(self, frame: Frame) -> None:
        """Raises TimeoutError for a reader that does not read."""
        text = _as_json(frame)
        async with self._sending, asyncio.timeout(self._slow_s):
            await self.send(text_data=text)


def _place(query: bytes) -> tuple[str, Cursor]:
    """Run and cursor that the page has reached; nothing of what is not well formed."""
    asked = parse_qs(query.decode("latin-1"))
    try:
        run = str(UUID(asked["run"][0]))
        return run, Cursor.parse(asked.get("after", ["0"])[0])
    except (KeyError, ValueError):
        return "", START
