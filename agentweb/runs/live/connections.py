"""One asyncio connection pool for each event loop and address."""

import asyncio
from weakref import WeakKeyDictionary

from django.conf import settings
from redis.asyncio import Redis
from redis.backoff import NoBackoff
from redis.retry import Retry

TIMEOUT_S = 2.0

_pools: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, Redis]] = WeakKeyDictionary()


def connection() -> Redis:
    """The pool of the running loop. Commands end within a few seconds, well or with a RedisError."""
    pools = _pools.setdefault(asyncio.get_running_loop(), {})
    url = settings.REDIS_URL
    if url not in pools:
        pools[url] = Redis.from_url(
            url,
            decode_responses=True,
            socket_timeout=TIMEOUT_S,
            socket_connect_timeout=TIMEOUT_S,
            retry=Retry(NoBackoff(), 1),
        )
    return pools[url]


def listening_connection() -> Redis:
    """A connection of its own for one pub/sub: reads may take as long as they like, and nothing is retried silently."""
    return Redis.from_url(
        settings.REDIS_URL,
        decode_responses=True,
        socket_timeout=None,
        socket_connect_timeout=TIMEOUT_S,
        socket_keepalive=True,
        retry=Retry(NoBackoff(), 0),
    )


async def close_connections() -> None:
    """Close what the running loop has opened."""
    for pool in _pools.pop(asyncio.get_running_loop(), {}).values():
        await pool.aclose()
