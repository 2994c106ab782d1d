"""The HTTP clients that each event loop keeps for their connections, apart from the package they are of: closing them
imports nothing."""

import asyncio
from collections.abc import Hashable
from typing import Protocol
from weakref import WeakKeyDictionary


class Client(Protocol):
    """What can be closed."""

    async def close(self) -> None:
        """End its connections."""


_kept: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[Hashable, Client]] = WeakKeyDictionary()


def kept_clients() -> dict[Hashable, Client]:
    """Those of the running loop, to be added to."""
    return _kept.setdefault(asyncio.get_running_loop(), {})


async def close_clients() -> None:
    """Close the running loop's clients; the next request makes new ones."""
    for client in _kept.pop(asyncio.get_running_loop(), {}).values():
        await client.close()
