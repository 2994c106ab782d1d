"""What tools keep open for as long as an event loop works: connections and processes. Closing them imports nothing."""

import asyncio
from collections.abc import Callable, Hashable
from typing import Any, Protocol, TypeVar
from weakref import WeakKeyDictionary


class Kept(Protocol):
    """What can be closed."""

    async def close(self) -> None: ...


K = TypeVar("K", bound=Kept)
_kept: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Hashable, Any]] = WeakKeyDictionary()


def kept(kind: Callable[[], K]) -> K:
    """The running loop's one of this kind, made when it is first asked for."""
    mine = _kept.setdefault(asyncio.get_running_loop(), {})
    if kind not in mine:
        mine[kind] = kind()
    found: K = mine[kind]
    return found


async def close_kept() -> None:
    """Close all that the running loop keeps; what is asked for later is made anew."""
    for each in _kept.pop(asyncio.get_running_loop(), {}).values():
        await each.close()
