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
from django.db import DatabaseError
from redis.exceptions import RedisError
from structlog.contextvars import bind_contextvars

from agentweb.chat.admission import Refusal, fingerprint, group_of, person, refusal
from agentweb.chat.blocks import BlockWriter
from agentweb.runs import live
from agentweb.runs.live import START, Cursor, Frame
from agentweb.teams.models import User

logger = logging.getLogger(__name__)

PING_S = 20.0  # below what proxies and browsers call silence
CHECK_S = 30.0  # between two looks at session and rights
SLOW_S = 20.0  # a reader that takes nothing for this long comes back with its cursor
TOO_SLOW, FAILED = 4408, 4500


class ConversationConsumer(AsyncWebsocketConsumer):
    """Accepts first and closes with a code then, since a page cannot see why a handshake was refused."""

    def __init__(self, ping_s: float = PING_S, check_s: float = CHECK_S) -> None:
        super().__init__()
        self._ping_s, self._check_s = ping_s, check_s

    async def connect(self) -> None:
        self._tasks: list[asyncio.Task[None]] = []
        self._user: User | None = None
        self._check_now = asyncio.Event()
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
        if self._user is not None:
            with contextlib.suppress(RedisError, OSError):
                await self.channel_layer.group_discard(group_of(self._user), self.channel_name)

    async def receive(self, text_data: str | None = None, bytes_data: bytes | None = None) -> None:
        """Pages act by requests; what comes over the socket is not read."""

    async def hint(self, event: dict[str, Any]) -> None:
        """Something about the person changed."""
        await self._say({"hint": {name: value for name, value in event.items() if name != "type"}})
        self._check_now.set()

    async def signed_out(self, event: dict[str, Any]) -> None:
        if event["session"] == fingerprint(self._session):
            await self._end(Refusal.SIGNED_OUT)
        else:
            self._check_now.set()

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
            await self.channel_layer.group_add(group_of(self._user), self.channel_name)
        except (RedisError, OSError):
            logger.warning("No hints for this socket: Redis does not answer.")

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
        """Keep proxies from closing a silent socket, and close it ourselves when the person may not read on."""
        loop = asyncio.get_running_loop()
        next_check = loop.time() + self._check_s
        while True:
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._check_now.wait(), min(self._ping_s, max(0.0, next_check - loop.time())))
            if self._check_now.is_set() or loop.time() >= next_check:
                self._check_now.clear()
                next_check = loop.time() + self._check_s
                if (code := await self._refusal_later()) is not None:
                    await self._end(code)
                    return
            try:
                await self._say({"ping": 1})
            except TimeoutError:
                await self._end(TOO_SLOW)
                return

    async def _refusal_later(self) -> Refusal | None:
        try:
            return await self._refusal()
        except DatabaseError:
            logger.exception("A socket's rights could not be read.")
            return None

    async def _say(self, frame: Frame) -> None:
        """Raises TimeoutError for a reader that does not read."""
        text = json.dumps(frame, ensure_ascii=False, separators=(",", ":"))
        async with self._sending:
            await asyncio.wait_for(self.send(text_data=text), SLOW_S)


def _place(query: bytes) -> tuple[str, Cursor]:
    """Run and cursor that the page has reached; nothing of what is not well formed."""
    asked = parse_qs(query.decode("latin-1"))
    try:
        run = str(UUID(asked["run"][0]))
        return run, Cursor.parse(asked.get("after", ["0"])[0])
    except (KeyError, ValueError):
        return "", START
