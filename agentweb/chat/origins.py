"""Only our own pages may open a socket: browsers send cookies along from any site, but also say which site it is."""

import logging
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import SplitResult, urlsplit

from django.conf import settings
from django.http.request import split_domain_port, validate_host
from django.utils.http import is_same_domain

logger = logging.getLogger(__name__)

Application = Callable[[dict[str, Any], Callable[..., Any], Callable[..., Any]], Awaitable[None]]
PORTS = {"http": "80", "https": "443"}


class OriginGate:
    """Refuses a handshake (status 403) whose Origin is missing, or neither this host nor a trusted origin."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: dict[str, Any], receive: Callable[..., Any], send: Callable[..., Any]) -> None:
        if refusal := refusal_of(scope):
            logger.warning("A websocket was refused: %s", refusal)
            await send({"type": "websocket.close"})
        else:
            await self._application(scope, receive, send)


def refusal_of(scope: dict[str, Any]) -> str:
    """Why the handshake is refused, with the setting that would allow it; "" when it is allowed."""
    headers = {name: value.decode("latin-1") for name, value in scope["headers"] if name in (b"origin", b"host")}
    origin, host = headers.get(b"origin", ""), headers.get(b"host", "")
    site = _split(origin)
    if site is None:
        return f"its Origin {origin[:200]!r} names no site; only browsers' pages may connect."
    if any(_trusts(pattern, site) for pattern in settings.CSRF_TRUSTED_ORIGINS):
        return ""
    if not validate_host(split_domain_port(host)[0], settings.ALLOWED_HOSTS or ["localhost", "127.0.0.1", "[::1]"]):
        return f"its Host {host[:200]!r} is not in ALLOWED_HOSTS."
    if _authority(site.netloc, site.scheme) == _authority(host, site.scheme):
        return ""
    return (
        f"its Origin {origin[:200]!r} is not this host ({host[:200]}). "
        f"If it is yours (a proxy with another name or port), add it to CSRF_TRUSTED_ORIGINS."
    )


def _split(origin: str) -> SplitResult | None:
    try:
        site = urlsplit(origin)
    except ValueError:
        return None
    return site if site.scheme in PORTS and site.netloc else None


def _authority(netloc: str, scheme: str) -> tuple[str, str]:
    """Host and port, in small letters; the port of the scheme where none is written."""
    host, port = split_domain_port(netloc)
    return host, port or PORTS[scheme]


def _trusts(pattern: str, site: SplitResult) -> bool:
    """Trusted origins are exact, or like https://*.example.org."""
    trusted = urlsplit(pattern)
    if trusted.scheme != site.scheme:
        return False
    if trusted.netloc.startswith("*"):
        return is_same_domain(site.netloc.lower(), trusted.netloc.lower().lstrip("*"))
    return _authority(trusted.netloc, trusted.scheme) == _authority(site.netloc, site.scheme)
