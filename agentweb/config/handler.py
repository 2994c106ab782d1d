"""Answers one request in one thread, middleware and view alike. The threads live on, and keep their connections.

Django's own handler takes a thread hop for each middleware, and a new thread with a new connection to the database for
each request, which is more work than most requests are themselves. It is still right for views that wait.
"""

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from tempfile import SpooledTemporaryFile
from typing import Any
from uuid import UUID

from asgiref.sync import iscoroutinefunction, sync_to_async
from django.core import signals
from django.core.exceptions import RequestAborted
from django.core.handlers.asgi import ASGIHandler, get_script_prefix
from django.db import connections
from django.http.response import FileResponse, HttpResponseBase
from django.urls import Resolver404, resolve, set_script_prefix

THREADS = 8
ID, SOME_ID = re.compile(r"(?<=/)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}(?=/|$)"), str(UUID(int=0))
SWITCH_S = 0.001  # threads that answer requests hand over to the sockets of the event loop sooner than Python's 5 ms
KEPT_S = 60  # how long a thread's connection to the database is used


def waits(path: str) -> bool:
    """Whether the view at this address is asynchronous: it may wait for long, and must not hold a thread meanwhile."""
    return _waits(ID.sub(SOME_ID, path))


@lru_cache(maxsize=1024)
def _waits(path: str) -> bool:
    """Asked once for all addresses that differ in ids only."""
    try:
        return iscoroutinefunction(resolve(path).func)
    except Resolver404:
        return False


class Handler:
    """The ASGI application of Django: each request goes to the handler that suits its view."""

    def __init__(self) -> None:
        self._waiting, self._at_once = ASGIHandler(), ThreadHandler()

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        handler = self._waiting if waits(scope["path"]) else self._at_once
        await handler(scope, receive, send)


class ThreadHandler(ASGIHandler):
    """For views that do not wait."""

    def __init__(self) -> None:
        super().__init__()
        sys.setswitchinterval(SWITCH_S)
        pool = ThreadPoolExecutor(THREADS, thread_name_prefix="request", initializer=_keep_connections)
        self._answer_in_thread = sync_to_async(self._answer, thread_sensitive=False, executor=pool)
        self._close_in_thread = sync_to_async(_close, thread_sensitive=False, executor=pool)

    def load_middleware(self, is_async: bool = False) -> None:
        super().load_middleware(is_async=False)

    async def __call__(self, scope: dict[str, Any], receive: Any, send: Any) -> None:
        try:
            body = await self.read_body(receive)
        except RequestAborted:
            return
        response = await self._answer_in_thread(scope, body)
        await self.send_response(response, send)
        if response.streaming:
            await self._close_in_thread(response, body)

    def _answer(self, scope: dict[str, Any], body: "SpooledTemporaryFile[bytes]") -> HttpResponseBase:
        """The response. One that is not streamed is whole by now, and everything behind it is closed."""
        set_script_prefix(get_script_prefix(scope))
        signals.request_started.send(sender=self.__class__, scope=scope)
        request, refusal = self.create_request(scope, body)
        response = refusal or self.get_response(request)
        response._handler_class = self.__class__  # the sender of the signal that the request is finished
        if isinstance(response, FileResponse):
            response.block_size = self.chunk_size
        if not response.streaming:
            _close(response, body)
        return response


def _close(response: HttpResponseBase, body: "SpooledTemporaryFile[bytes]") -> None:
    response.close()
    body.close()


def _keep_connections() -> None:
    """Those of other threads end with their request, as the settings say."""
    for connection in connections.all():
        connection.settings_dict = {**connection.settings_dict, "CONN_MAX_AGE": KEPT_S}
