"""Which request a log line is about, and whose: known to every line that is written while the request is answered."""

from collections.abc import Callable
from contextvars import ContextVar
from typing import Any

import structlog
from asgiref.sync import iscoroutinefunction
from django.core.signals import request_finished
from django.dispatch import receiver
from django.http import HttpRequest
from django.utils.decorators import sync_and_async_middleware
from structlog.typing import EventDict, WrappedLogger

_request: ContextVar[HttpRequest | None] = ContextVar("request", default=None)


@sync_and_async_middleware
def request_middleware(get_response: Callable[[HttpRequest], Any]) -> Callable[[HttpRequest], Any]:
    """The context stays until the response is closed, since Django logs refusals after all middleware."""
    if iscoroutinefunction(get_response):

        async def middleware(request: HttpRequest) -> Any:
            _turn_to(request)
            return await get_response(request)
    else:

        def middleware(request: HttpRequest) -> Any:
            _turn_to(request)
            return get_response(request)

    return middleware


@receiver(request_finished)
def leave_request(**_: Any) -> None:
    """Whatever the thread does next is about something else."""
    _turn_to(None)


def _turn_to(request: HttpRequest | None) -> None:
    structlog.contextvars.clear_contextvars()
    _request.set(request)


def add_request(_logger: WrappedLogger, _method: str, line: EventDict) -> EventDict:
    """Method, path (never the query) and person. Asking for ``request.user`` would query the database from within a
    log line, so only somebody who is known already is named."""
    request = _request.get()
    if request is not None:
        line.setdefault("request", f"{request.method} {request.path}")
        known = vars(request)
        user = known.get("_cached_user") or known.get("_acached_user")
        if user is not None and user.pk is not None:
            line.setdefault("user", user.pk)
    return line
