"""Errors of the HTTP API as RFC 9457 problem documents, whoever raises them: a route, Django, or a missing page."""

import json
import logging
from collections.abc import Iterable, Mapping
from http import HTTPStatus
from typing import Any

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import sync_and_async_middleware
from django.utils.translation import gettext_lazy as _

PREFIX = "/api/"
MEDIA_TYPE = "application/problem+json"
logger = logging.getLogger(__name__)

DETAILS = {
    400: _("The request could not be understood."),
    401: _("Sign in, or send a valid token as Authorization: Bearer."),
    403: _("You may not do this."),
    404: _("There is nothing at this address."),
    405: _("This address does not take this method."),
    413: _("The request body is too large."),
    500: _("Something went wrong on our side. It has been logged."),
}


def problem(
    status: int,
    detail: str = "",
    *,
    errors: Iterable[tuple[str, str]] = (),
    state: Mapping[str, Any] | None = None,
    headers: Mapping[str, str] | None = None,
) -> HttpResponse:
    """A problem document. ``errors`` are (path, message) pairs; ``state`` says how the thing really stands."""
    body: dict[str, Any] = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail or str(DETAILS.get(status, HTTPStatus(status).phrase)),
    }
    if listed := [{"path": path, "message": message} for path, message in errors]:
        body["errors"] = listed
    if state:
        body["state"] = dict(state)
    if status == HTTPStatus.UNAUTHORIZED:
        headers = {**(headers or {}), "WWW-Authenticate": "Bearer"}
    return HttpResponse(json.dumps(body), status=status, content_type=MEDIA_TYPE, headers=headers)


@sync_and_async_middleware
def problem_middleware(get_response):
    """Turn every error page under the API's prefix into a problem document."""
    if iscoroutinefunction(get_response):

        async def middleware(request: HttpRequest) -> HttpResponse:
            return _converted(request, await get_response(request))
    else:

        def middleware(request: HttpRequest) -> HttpResponse:
            return _converted(request, get_response(request))

    return middleware


def _converted(request: HttpRequest, response: HttpResponse) -> HttpResponse:
    if not f"{request.path}/".startswith(PREFIX) or response.status_code < 400:
        return response
    if response.get("Content-Type", "").startswith(MEDIA_TYPE):
        return response
    kept = {name: response[name] for name in ("Allow", "Retry-After") if name in response}
    return problem(response.status_code, headers=kept)
