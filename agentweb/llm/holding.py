"""Words gather in the socket while nobody wants them: one read then takes what would have been a read for each."""

import asyncio
from types import TracebackType
from typing import Any, cast

import aiohttp
import httpx2

SHORTEST_IDLE_S = 2.0  # what comes in within is noticed too late for shorter time-outs


class Held:
    """Nothing is read from the response's connection within. Does nothing where the connection cannot be told so."""

    def __init__(self, response: httpx2.Response) -> None:
        self._answer = _answer(response)
        self._paused: asyncio.Transport | None = None

    @property
    def transport(self) -> asyncio.Transport | None:
        """None once the body has come whole."""
        connection = self._answer.connection if self._answer is not None else None
        return connection.transport if connection else None

    def __enter__(self) -> None:
        transport = self.transport
        if transport is not None and transport.is_reading():  # else it waits by itself until more is taken
            transport.pause_reading()
            self._paused = transport

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        transport, self._paused = self._paused, None
        if transport is not None and not transport.is_closing():
            transport.resume_reading()


def _answer(response: httpx2.Response) -> aiohttp.ClientResponse | None:
    """That of aiohttp, below the two streams that the client's packages put round it. Neither has a name for what is
    below it; if it is not found, words are read one by one, which only costs more."""
    bound: Any = response.stream
    below = getattr(getattr(bound, "_stream", None), "_aiohttp_response", None)
    return cast(aiohttp.ClientResponse | None, below)
