"""Model servers on this machine, at the ports where they usually listen: asked for their lists, without a key."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from agentweb.engine.ports import ModelError
from agentweb.llm.config import ModelConfig
from agentweb.llm.offers import Offer, offered

CONNECT_S, ANSWER_S = 1.0, 3.0


@dataclass(frozen=True, slots=True)
class LocalServer:
    """``kind`` is what usually listens at that port; ``models`` are its own words."""

    kind: str
    base_url: str
    models: tuple[Offer, ...]


async def local_servers(places: Sequence[tuple[str, int]]) -> tuple[LocalServer, ...]:
    """Those that answer with models. ``places``: what listens there, and the port; all are asked at once."""
    found = await asyncio.gather(*(_look(kind, f"http://127.0.0.1:{port}/v1") for kind, port in places))
    return tuple(server for server in found if server is not None)


async def _look(kind: str, base_url: str) -> LocalServer | None:
    config = ModelConfig(kind, base_url, "", connect_timeout_s=CONNECT_S, idle_timeout_s=ANSWER_S)
    try:
        async with asyncio.timeout(CONNECT_S + ANSWER_S):
            models = await offered(config)
    except (ModelError, TimeoutError):
        return None
    return LocalServer(kind, base_url, models) if models else None
