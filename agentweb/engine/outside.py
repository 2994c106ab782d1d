"""What tools reach outside of the site, as protocols: web servers, search, mail. A test hands them fakes."""

from collections.abc import Mapping, Sequence
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


@dataclass(frozen=True, slots=True)
class Hit:
    """One thing that a search has found; ``text`` is what the search says about it, perhaps nothing."""

    title: str
    url: str
    text: str = ""


class Search(Protocol):
    async def find(self, query: str, most: int) -> Sequence[Hit]:
        """The best ones first, perhaps none. Raises ToolError with a sentence."""
        ...


@dataclass(frozen=True, slots=True)
class Mail:
    """Plain text. The addresses have been looked at, and neither they nor the subject hold a line break."""

    to: tuple[str, ...]
    cc: tuple[str, ...]
    subject: str
    text: str


class Mailer(Protocol):
    @property
    def sender(self) -> str:
        """From whom the mail comes."""
        ...

    def check(self, mail: Mail) -> None:
        """Raises ToolError, with a sentence, where this mail may not be sent."""
        ...

    def send(self, mail: Mail) -> None:
        """Hand it to the mail server, which takes some seconds at most. Raises ToolError."""
        ...
