"""The cache of the site, which counts among other things how often someone tried to sign in."""

from typing import Any

from django.core.cache.backends.locmem import LocMemCache
from django.core.cache.backends.redis import RedisCache
from redis.backoff import NoBackoff
from redis.exceptions import RedisError
from redis.retry import Retry

CONNECTION = {
    "socket_timeout": 1.0,
    "socket_connect_timeout": 1.0,
    "retry": Retry(NoBackoff(), 1),  # a connection that has died while idle is made anew once
}


class SteadyCache(RedisCache):
    """Shared through Redis. While Redis is away, each process remembers by itself: people can sign in, and whoever
    guesses passwords is still slowed down."""

    def __init__(self, server: str, params: dict[str, Any]) -> None:
        super().__init__(server, {**params, "OPTIONS": {**CONNECTION, **params.get("OPTIONS", {})}})
        self._own = LocMemCache("while Redis is away", {})

    def add(self, *args: Any, **kwargs: Any) -> Any:
        return self._try("add", args, kwargs)

    def get(self, *args: Any, **kwargs: Any) -> Any:
        return self._try("get", args, kwargs)

    def set(self, *args: Any, **kwargs: Any) -> Any:
        return self._try("set", args, kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> Any:
        return self._try("delete", args, kwargs)

    def _try(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        try:
            return getattr(super(), name)(*args, **kwargs)
        except (RedisError, OSError):
            return getattr(self._own, name)(*args, **kwargs)
