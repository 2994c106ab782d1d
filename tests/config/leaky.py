"""A tool and a page that fail while they hold secrets, as a careless extension would."""

import logging

from django.http import HttpRequest, HttpResponse
from django.urls import include, path

from agentweb.engine.enums import Risk
from agentweb.toolbox.tool import tool


@tool(label="Leak", reads=True, risk=Risk.LOW)
def leak(secret: str) -> str:
    """Fails with what it was given.

    Args:
        secret: What must not be told.
    """
    try:
        raise ConnectionError({"headers": {"X-Api-Key": secret}, "url": f"https://me:{secret}@host.example/"})
    except ConnectionError as error:
        raise RuntimeError(f"refused with api_key={secret}") from error


def fails(request: HttpRequest) -> HttpResponse:
    logging.getLogger(__name__).warning("asked with %s and %s", dict(request.headers), request.POST)
    raise RuntimeError(f"{request.META} {request.POST} {request.COOKIES}")


urlpatterns = [path("fails", fails), path("", include("agentweb.config.urls"))]
