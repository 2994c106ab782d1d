"""The client of all requests that tools make: it reaches the public internet and no server inside, whatever a name, a
redirect or a DNS server says.

A name is looked up once for each hop, all its addresses are judged, and only those are connected to, with the name
kept for Host and certificate. Redirects are followed here, one by one, so that each hop is judged like the first.
Imported when it is first needed, since aiohttp takes a while.
"""

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from agentweb.engine.outside import HttpAnswer, HttpRequest
from agentweb.engine.ports import ToolError
from agentweb.toolbox.addresses import NOTHING_INNER, PORTS, Allowed, is_public

Lookup = Callable[[str, int], Awaitable[Sequence[str]]]

AGENT = "agentweb"
CONNECT_S = 10.0
REDIRECTS = (301, 302, 303, 307, 308)
MOST_SHOWN = 100  # characters of a server's name


class HttpRefused(ToolError):
    """The guard did not let the request go where it would have gone."""


class HttpFailed(ToolError):
    """The server could not be reached, or did not keep to HTTP."""


LEADS_INSIDE = "A server of the internet may not lead to one inside."


async def look_up(host: str, port: int) -> Sequence[str]:
    """The addresses of a name, as the system knows them. Raises OSError."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(entry[4][0]) for entry in found]


class GuardedHttp:
    """``allowed``: inner servers that may be reached all the same. Holds no connection, so any loop may use it."""

    def __init__(self, allowed: Allowed = NOTHING_INNER, lookup: Lookup = look_up) -> None:
        self._allowed = allowed
        self._lookup = lookup

    async def send(self, request: HttpRequest) -> HttpAnswer:
        url = read_url(request.url)
        try:
            async with asyncio.timeout(request.timeout_s):
                return await self._follow(request, url)
        except TimeoutError:
            raise HttpFailed(f"{_shown(url)} gave no whole answer within {request.timeout_s:g} s.") from None

    async def _follow(self, request: HttpRequest, url: URL) -> HttpAnswer:
        guard = _Guard(self._allowed, self._lookup, url)
        answer = await _ask(request, url, guard)
        hops = 0
        while (target := _target(request, answer, url)) is not None:
            hops += 1
            if hops > request.redirects:
                raise HttpRefused(f"{_shown(url)} redirects too often: after {request.redirects} it was not followed.")
            try:
                stays = guard.went_inside and target.host == url.host
                following = _Guard(self._allowed, self._lookup, target, from_outside=not (guard.inner or stays))
                if target.origin() != url.origin():
                    request = replace(request, headers={})  # they may hold a secret for the first server
                answer = await _ask(request, target, following)
            except HttpRefused as error:
                raise HttpRefused(f"{_shown(url)} redirects to {_shown(target)}: {error}") from None
            url, guard = target, following
        return answer


def read_url(text: str) -> URL:
    """Raises HttpRefused, which never repeats the address."""
    if any(ord(character) < 33 or ord(character) == 127 for character in text):
        raise HttpRefused("The address holds a blank or a control character.")
    try:
        url = URL(text)
        host, port = url.host or "", url.port
    except (ValueError, TypeError):
        raise HttpRefused("The address cannot be read.") from None
    if url.scheme not in ("http", "https"):
        raise HttpRefused("The address must begin with http:// or https://.")
    if not host or not port:
        raise HttpRefused("The address names no server.")
    if url.user is not None or url.password is not None:
        raise HttpRefused("The address holds a name or a password before the @: leave them out.")
    return url.with_fragment(None)


class _Guard(AbstractResolver):
    """Judges where one request goes: before it is sent by host and port, then by address, last at the connection.

    ``inner``: it goes to a server that is allowed by what the address says; ``went_inside``: a name led inside.
    ``from_outside``: a server that is not known to be inside leads there."""

    def __init__(self, allowed: Allowed, lookup: Lookup, url: URL, *, from_outside: bool = False) -> None:
        self._allowed = allowed
        self._lookup = lookup
        self._from_outside = from_outside
        host, port = url.host or "", url.port or 0
        self._named = allowed.has_name(host, port)
        literal = _literal(host)
        self.inner = self._named or bool(literal and allowed.has_address(literal, port))
        self.went_inside = False
        if self.inner and from_outside:
            raise HttpRefused(LEADS_INSIDE)
        if literal:
            self._judge(literal, port)
        elif host.rstrip(".").rpartition(".")[2][:1].isdecimal():
            raise HttpRefused(f'"{_shown(url)}" is no name of a server, nor an address as it is usually written.')

    def _judge(self, address: str, port: int) -> None:
        """Raises HttpRefused."""
        if self._from_outside and not is_public(address) and self._allowed.has_address(address, port):
            raise HttpRefused(LEADS_INSIDE)
        if self._named or self._allowed.has_address(address, port):
            return
        if not is_public(address):
            raise HttpRefused("The server is not on the public internet, so it is not asked.")
        if port not in PORTS:
            most = ", ".join(map(str, PORTS[:-1]))
            raise HttpRefused(f"Port {port} is not allowed, only {most} and {PORTS[-1]}.")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        try:
            found = await self._lookup(host, port)
        except (OSError, ValueError):  # ValueError: a name that no server can have, such as a..b
            raise HttpFailed(f"There is no server named {host[:MOST_SHOWN]}.") from None
        for address in found:
            self._judge(address, port)
        return [_as_resolved(host, address, port) for address in found]

    async def close(self) -> None:
        """Nothing is held."""

    def connection(self, entry: Any) -> socket.socket:
        """The socket for an address, which is judged once more: nothing is connected to that was not."""
        family, kind, protocol, _name, (address, port, *_rest) = entry
        self._judge(address, port)
        self.went_inside = not is_public(address)
        made = socket.socket(family, kind, protocol)
        made.setblocking(False)
        return made


async def _ask(request: HttpRequest, url: URL, guard: _Guard) -> HttpAnswer:
    """One hop. Raises HttpRefused and HttpFailed."""
    connector = aiohttp.TCPConnector(
        resolver=guard, use_dns_cache=False, force_close=True, socket_factory=guard.connection
    )
    session = aiohttp.ClientSession(
        connector=connector,
        cookie_jar=aiohttp.DummyCookieJar(),
        trust_env=False,  # a proxy of the environment would be asked instead of what was judged
        timeout=aiohttp.ClientTimeout(total=None, sock_connect=CONNECT_S),
    )
    headers = {"User-Agent": AGENT, "Accept-Encoding": "gzip, deflate", **request.headers}
    try:
        async with (
            session,
            session.request(
                request.method, url, headers=headers, data=request.body or None, allow_redirects=False
            ) as response,
        ):
            moved = response.status in REDIRECTS and request.redirects > 0
            body, cut = (b"", False) if moved else await _body(response, request.most_bytes)
            named = {name.lower(): value for name, value in response.headers.items()}
            return HttpAnswer(response.status, str(url), named, body, cut)
    except TimeoutError:
        raise HttpFailed(f"{_shown(url)} could not be reached within {CONNECT_S:g} s.") from None
    except (aiohttp.ClientError, OSError, ValueError) as error:
        raise HttpFailed(f"{_shown(url)} {_reason(error)}.") from None  # its own words may hold the whole address


async def _body(response: aiohttp.ClientResponse, most: int) -> tuple[bytes, bool]:
    """As much as is wanted, unpacked piece by piece: what is packed tightly takes no more memory than that."""
    gathered = bytearray()
    async for piece in response.content.iter_chunked(65_536):
        gathered += piece
        if len(gathered) > most:
            return bytes(gathered[:most]), True
    return bytes(gathered), False


def _target(request: HttpRequest, answer: HttpAnswer, url: URL) -> URL | None:
    """Where the answer leads to, or None where it is what was asked for."""
    where = answer.headers.get("location", "").strip()
    if answer.status not in REDIRECTS or request.method != "GET" or not request.redirects or not where:
        return None
    try:
        return read_url(str(url.join(URL(where))))
    except (HttpRefused, ValueError, TypeError) as error:
        why = str(error) if isinstance(error, HttpRefused) else "The address cannot be read."
        raise HttpRefused(f"{_shown(url)} redirects to an address that cannot be used. {why}") from None


def _reason(error: Exception) -> str:
    match error:
        case aiohttp.ClientConnectorCertificateError() | ssl.SSLCertVerificationError():
            return "has no valid certificate"
        case aiohttp.ClientSSLError():
            return "does not speak TLS as it should"
        case aiohttp.ClientConnectorError():
            return "could not be reached"
        case aiohttp.ServerDisconnectedError() | aiohttp.ClientOSError() | aiohttp.ClientPayloadError():
            return "broke off its answer"
    return "gave an answer that is not HTTP"


def _literal(host: str) -> str:
    """The address that the host is, or empty for a name. Raises HttpRefused for one with a zone."""
    if "%" in host:
        raise HttpRefused("The address holds a %, as no server's name does.")
    for family in (socket.AF_INET, socket.AF_INET6):
        try:
            socket.inet_pton(family, host)
        except OSError:
            continue
        return host
    return ""


def _as_resolved(host: str, address: str, port: int) -> ResolveResult:
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    flags = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
    return ResolveResult(hostname=host, host=address, port=port, family=family, proto=socket.IPPROTO_TCP, flags=flags)


def _shown(url: URL) -> str:
    return (url.host or "")[:MOST_SHOWN]
