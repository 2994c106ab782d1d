"""Telling those who watch, from synchronous code, after the commit. A failure costs liveness, never an event."""

import json
import logging
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import redis
from channels.layers import get_channel_layer
from django.conf import settings
from redis.backoff import NoBackoff
from redis.retry import Retry

from agentweb.runs.live import keys, scripts

logger = logging.getLogger(__name__)

TIMEOUT_S = 1.0
PAUSE_S = 2.0  # after a failure nobody waits for Redis again for this long

GROUP_PREFIX = "asgi__group__"  # the channel layer's own

Card = tuple[str, str]


class Publisher:
    """One connection pool of this process. Safe in threads."""

    def __init__(self, url: str) -> None:
        self._redis = redis.Redis.from_url(
            url,
            socket_timeout=TIMEOUT_S,
            socket_connect_timeout=TIMEOUT_S,
            retry=Retry(NoBackoff(), 1),  # a connection that has died while idle is made anew once
        )
        self._silent_until = 0.0

    def run_script(self, script: str, run: str, conversation: str, frame: dict[str, Any], *arguments: Any) -> None:
        channel = keys.channel_of(conversation)
        fixed = (channel, frame_tail(frame), keys.STREAM_LENGTH, keys.EXPIRY_S)
        self._attempt(lambda: self._eval(script, keys.run_keys(run), (*fixed, *arguments)))

    def publish(self, channel: str, text: str | bytes) -> None:
        self._attempt(lambda: self._redis.publish(channel, text))

    def together(self, ask: Callable[[Any], None]) -> list[Any]:
        """What several commands answer that ``ask`` puts into one request; nothing while Redis is away."""
        answers: list[Any] = []

        def act() -> None:
            with self._redis.pipeline(transaction=False) as pipeline:
                ask(pipeline)
                answers.extend(pipeline.execute())

        self._attempt(act)
        return answers

    def length(self, key: str) -> int:
        try:
            return int(self._redis.llen(key))
        except redis.RedisError:
            return 0

    def answers(self) -> bool:
        try:
            return bool(self._redis.ping())
        except redis.RedisError:
            return False

    def _eval(self, script: str, names: list[str], arguments: Sequence[Any]) -> None:
        try:
            self._redis.evalsha(scripts.sha(script), len(names), *names, *arguments)
        except redis.exceptions.NoScriptError:
            self._redis.eval(script, len(names), *names, *arguments)

    def _attempt(self, act: Any) -> None:
        if time.monotonic() < self._silent_until:
            return
        try:
            act()
        except redis.RedisError as error:
            self._silent_until = time.monotonic() + PAUSE_S
            logger.warning("Redis did not take a frame (%s: %s); pages catch up from the rows.", type(error), error)


@lru_cache(maxsize=4)
def publisher(url: str) -> Publisher:
    return Publisher(url)


def frame_tail(frame: dict[str, Any]) -> bytes:
    """The frame as JSON without its opening brace: the script puts the cursor in front."""
    return json.dumps(frame, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")[1:]


def publish_events(
    *,
    run: str,
    conversation: str,
    last: int,
    kinds: Sequence[str],
    cards: Sequence[Card],
    status: str,
    epoch: int,
    opened: str = "",
    closed: bool = False,
) -> None:
    """The frame of one batch of events that ends with number ``last``. ``opened``: the message whose text follows."""
    if not settings.REDIS_URL:
        return
    frame = event_frame(run=run, last=last, kinds=kinds, cards=cards, status=status, opened=opened) | {"epoch": epoch}
    more = (last, opened, "1" if closed else "0")
    publisher(settings.REDIS_URL).run_script(scripts.EVENTS, run, conversation, frame, *more)


def event_frame(
    *, run: str, last: int, kinds: Sequence[str], cards: Sequence[Card], status: str, opened: str
) -> dict[str, Any]:
    """What a frame says about events; the same whether it comes live or from the rows."""
    first = last - len(kinds) + 1
    frame: dict[str, Any] = {
        "run": run,
        "events": [{"number": first + place, "kind": kind} for place, kind in enumerate(kinds)],
        "cards": [list(card) for card in cards],
        "status": status,
    }
    if opened:
        frame["message"] = opened
    return frame


def publish_touch(*, run: str, conversation: str, cards: Sequence[Card]) -> None:
    """Something changed that is no event; whoever watches fetches the cards again."""
    if settings.REDIS_URL:
        frame = {"run": run, "cards": [list(card) for card in cards]}
        publisher(settings.REDIS_URL).run_script(scripts.TOUCH, run, conversation, frame)


def publish_hint(groups: Sequence[str]) -> None:
    """Tell the sockets of some groups that their people's inbox of approvals changed.

    Written as the channel layer would write it, which can be asked from an event loop only and would connect anew for
    each loop that a thread makes."""
    layer = get_channel_layer()
    if not settings.REDIS_URL or layer is None:
        return
    message = layer.serialize({"type": "hint", "inbox": 1})
    for group in groups:
        publisher(settings.REDIS_URL).publish(f"{GROUP_PREFIX}{group}", message)


def backlog() -> int:
    """How many messages wait for a worker, as far as Redis can be asked."""
    return publisher(settings.REDIS_URL).length(keys.QUEUE) if settings.REDIS_URL else 0


def answers() -> bool:
    """Whether Redis is known and answers; within a few seconds."""
    return bool(settings.REDIS_URL) and publisher(settings.REDIS_URL).answers()


def control(run: str) -> None:
    """Tell the workers to look at once what people asked of this run."""
    if settings.REDIS_URL:
        publisher(settings.REDIS_URL).publish(keys.CONTROL, run)
