"""A request to an address that somebody typed in: never to the site's own network unless the operator allows it."""

import http.client
import re
import socket
import ssl
from collections.abc import Mapping
from urllib.parse import urlsplit

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

from agentweb.toolbox.addresses import is_public

TIMEOUT_S = 10.0
UNREADABLE = gettext_noop("The address cannot be read.")
SCHEME = gettext_noop("The address must begin with http:// or https://.")
UNKNOWN = gettext_noop("The name of the server is not known.")
PRIVATE = gettext_noop("The address leads into a private network, which the operator has not allowed.")
UNREACHED = gettext_noop("The server could not be reached: %(why)s.")
ANSWERED = gettext_noop("The server answered with %(why)s.")
SENTENCES = (UNREADABLE, SCHEME, UNKNOWN, PRIVATE, UNREACHED, ANSWERED)


class Refused(Exception):
    """The request was not made, or not taken; says why in English, one of SENTENCES."""


def retold(english: str) -> str:
    """What a Refused said, in the reader's language; other text as it is."""
    for sentence in SENTENCES:
        before, _mark, after = sentence.partition("%(why)s")
        if found := re.fullmatch(f"{re.escape(before)}(.*){re.escape(after)}", english):
            return _(sentence) % {"why": found[1]}
    return english


def post(url: str, body: bytes, headers: Mapping[str, str], *, allow_private: bool) -> int:
    """Send it once, following nothing, and give back the status. Raises Refused for all but 2xx.

    The name is looked up once and that very address is connected to, so it cannot be another one by then."""
    try:
        parts = urlsplit(url)
        host, secure = parts.hostname or "", parts.scheme == "https"
        port = parts.port or (443 if secure else 80)
    except ValueError as error:
        raise Refused(UNREADABLE) from error
    if parts.scheme not in ("http", "https") or not host:
        raise Refused(SCHEME)
    address = _address(host, port, allow_private=allow_private)
    connection = _Pinned(host, port, address, secure=secure)
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        connection.request("POST", path, body, dict(headers))
        status = connection.getresponse().status
    except (OSError, http.client.HTTPException, ValueError) as error:  # ValueError: a path that is not ASCII
        raise Refused(UNREACHED % {"why": type(error).__name__}) from error
    finally:
        connection.close()
    if not 200 <= status < 300:
        raise Refused(ANSWERED % {"why": status})
    return status


def _address(host: str, port: int, *, allow_private: bool) -> str:
    """The first address of the name; each of them must be one of the public internet."""
    try:
        found = [str(entry[4][0]) for entry in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except (OSError, ValueError) as error:  # ValueError: a name that no server can have, such as a..b
        raise Refused(UNKNOWN) from error
    if not allow_private and not all(is_public(each) for each in found):
        raise Refused(PRIVATE)
    return found[0]


class _Pinned(http.client.HTTPConnection):
    """A connection to one address; the certificate must be that of the name."""

    def __init__(self, host: str, port: int, address: str, *, secure: bool) -> None:
        super().__init__(host, port, timeout=TIMEOUT_S)
        self._at, self._secure = address, secure

    def connect(self) -> None:
        self.sock = socket.create_connection((self._at, self.port), self.timeout)
        if self._secure:
            self.sock = ssl.create_default_context().wrap_socket(self.sock, server_hostname=self.host)
