"""Why no bytes came: read from the chain of causes, since the HTTP client reports most failures as a time-out."""

import errno
import socket
import ssl
from collections.abc import Iterator
from urllib.parse import urlsplit

import aiohttp
import httpx2

from agentweb.engine.enums import ErrorKind
from agentweb.engine.ports import ModelError
from agentweb.llm.errors import bad_response, interrupted

_BROKEN = (
    aiohttp.ServerDisconnectedError,
    aiohttp.ClientPayloadError,
    aiohttp.ClientOSError,
    httpx2.ReadError,
    httpx2.WriteError,
    httpx2.RemoteProtocolError,
    ConnectionError,
)
_BAD_ADDRESS = (aiohttp.InvalidURL, httpx2.InvalidURL, httpx2.UnsupportedProtocol)


def place(base_url: str) -> str:
    """Host and port of an endpoint, for sentences: no user, password, path or query."""
    try:
        parts = urlsplit(base_url)
        port = f":{parts.port}" if parts.port else ""
    except ValueError:
        return "the configured address"
    return f"{parts.hostname}{port}" if parts.hostname else "the configured address"


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    link: BaseException | None = error
    while link is not None and id(link) not in seen:
        seen.add(id(link))
        yield link
        link = link.__cause__ or link.__context__


def connection_fault(error: BaseException, *, base_url: str, idle_s: float, answering: bool) -> ModelError:
    """Classify a failed connection. ``answering``: the answer had begun, so its text is kept as interrupted."""
    chain = list(_causes(error))
    where = place(base_url)
    return (
        _not_connected(chain, where)
        or _timed_out(chain, where, idle_s, answering)
        or _broken_off(chain, where, answering)
        or _unreadable(chain, where)
    )


def _not_connected(chain: list[BaseException], where: str) -> ModelError | None:
    for link in chain:
        if isinstance(link, aiohttp.ClientSSLError):
            return _refusal(_tls_sentence(link, where), retry=False)
        if isinstance(link, _BAD_ADDRESS):
            return _refusal(
                "The address of this model is not a valid URL. An admin should check its base URL.", retry=False
            )
        if isinstance(link, aiohttp.ClientConnectorDNSError | socket.gaierror):
            return _refusal(f"The name {where} was not found. An admin should check the base URL of this model.")
        if isinstance(link, aiohttp.ClientConnectorError):
            return _refusal(_connector_sentence(link.os_error, where))
    return None


def _tls_sentence(error: BaseException, where: str) -> str:
    if any(
        isinstance(link, ssl.SSLCertVerificationError | aiohttp.ClientConnectorCertificateError)
        for link in _causes(error)
    ):
        return f"The certificate of {where} is not trusted. An admin should check the address."
    return (
        f"{where} does not speak TLS as it should. An admin should check the address: perhaps it begins with http://."
    )


def _connector_sentence(error: OSError, where: str) -> str:
    if error.errno == errno.ECONNREFUSED or isinstance(error, ConnectionRefusedError):
        return f"Nothing answers at {where}: the connection was refused. Start the model server or check its address."
    return f"No connection to {where} could be made. Check that the model server is up and can be reached."


def _refusal(sentence: str, *, retry: bool = True) -> ModelError:
    return ModelError(ErrorKind.CONNECTION, sentence, retryable=retry)


def _timed_out(chain: list[BaseException], where: str, idle_s: float, answering: bool) -> ModelError | None:
    for link in chain:
        # The client reports lost connections as connect time-outs too, so only time-outs without another cause count.
        if isinstance(link, _BROKEN) and not isinstance(link, TimeoutError):
            return None
        if isinstance(link, aiohttp.ConnectionTimeoutError):
            return ModelError(
                ErrorKind.TIMEOUT, f"{where} did not take the connection in time. Check that it is up.", retryable=True
            )
    if any(isinstance(link, TimeoutError | httpx2.ReadTimeout) for link in chain):
        when = "in the middle of the answer" if answering else "after the request"
        return ModelError(
            ErrorKind.TIMEOUT,
            f"The model server sent nothing for {idle_s:g} seconds {when}. Try again.",
            retryable=True,
        )
    return None


def _broken_off(chain: list[BaseException], where: str, answering: bool) -> ModelError | None:
    if not any(isinstance(link, _BROKEN) for link in chain):
        return None
    if answering:
        return interrupted()
    return _refusal(f"{where} closed the connection without an answer. Try again.")


def _unreadable(chain: list[BaseException], where: str) -> ModelError:
    if any(isinstance(link, aiohttp.ClientError | httpx2.HTTPError) for link in chain):
        return bad_response("something that is not HTTP")
    return _refusal(f"The request to {where} failed ({type(chain[0]).__name__}). Try again.")
