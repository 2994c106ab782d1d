"""What tools reach outside of the site, as protocols: web servers, search, mail. A test hands them fakes."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class HttpRequest:
    """``timeout_s`` is for everything together; redirects are followed for GET only. ``most_bytes``: of the answer's
    body, unpacked."""

    url: str
    method: str = "GET"
    headers: Mapping[str, str] = field(default_factory=dict, hash=False)
    body: bytes = b""
    most_bytes: int = 2_000_000
    timeout_s: float = 20.0
    redirects: int = 5


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """``url``: where it came from in the end; names of headers are in small letters; ``cut``: the body was longer."""

    status: int
    url: str
    headers: Mapping[str, str] = field(hash=False)
    body: bytes
    cut: bool = False


class Http(Protocol):
    async def send(self, request: HttpRequest) -> HttpAnswer:
        """Any status is an answer. Raises ToolError with a sentence that names the server at most, since the rest of
        an address may hold a key."""
        ...
