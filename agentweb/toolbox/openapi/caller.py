"""Calls of operations of an HTTP API, through the guarded client of the site."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, field, replace
from http import HTTPStatus

from agentweb.engine.disguises import without, without_bytes
from agentweb.engine.messages import Json
from agentweb.engine.outside import HttpAnswer, HttpRequest
from agentweb.engine.ports import Output, Progress, ToolContext, ToolError
from agentweb.toolbox.definitions import Definition
from agentweb.toolbox.openapi.request import address, request
from agentweb.toolbox.received import Received
from agentweb.toolbox.results import for_model

LONGEST_ERROR = 2_000
CHARSETS = ("iso-8859-1", "latin-1", "windows-1252", "us-ascii", "utf-16", "gb18030", "gbk")
TEXTS = ("text/", "application/json", "application/xml", "application/javascript", "application/x-www-form-urlencoded")


@dataclass(frozen=True, slots=True)
class ApiCaller:
    """``base``: the address before each path, as an admin set it. ``credentials``: see `request`."""

    name: str
    base: str
    limit_s: float
    credentials: Mapping[str, str] = field(default_factory=dict, hash=False, repr=False)

    def effect(self, definition: Definition, arguments: Mapping[str, Json]) -> str:
        where = address(self.base, definition.raw, arguments)
        return for_model(f"Sends {definition.raw['method']} to {where} ({self.name}).", LONGEST_ERROR)

    def asked(self, definition: Definition, arguments: Mapping[str, Json]) -> HttpRequest:
        """The request of a call, with all that is secret. Raises ToolError."""
        return request(self.base, definition.raw, arguments, self.credentials, self.limit_s)

    async def steps(
        self, definition: Definition, arguments: Mapping[str, Json], context: ToolContext
    ) -> AsyncGenerator[Progress | Output, None]:
        answer = await context.http.send(self.asked(definition, arguments))
        words = [part for value in self.credentials.values() for part in (value, *value.split(":", 1))]
        answer = replace(answer, body=without_bytes(answer.body, words))
        text = without(await _told(answer, context), words)
        status = _status(answer.status)
        if not 200 <= answer.status < 300:
            raise ToolError(f"{self.name} answered with {status}. {for_model(text, LONGEST_ERROR)}".strip())
        yield Output(f"{status}\n\n{text}" if text else f"{status}, without a text.")


async def _told(answer: HttpAnswer, context: ToolContext) -> str:
    """The body as text, or the note of a file."""
    if not answer.body:
        return ""
    kind = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    note = f"\n\n[Cut: the answer is longer than {len(answer.body):,} bytes.]" if answer.cut else ""
    if not kind or kind.startswith(TEXTS) or kind.endswith(("+json", "+xml")):
        return answer.body.decode(_charset(answer), "replace") + note
    if not 200 <= answer.status < 300:
        return ""
    return await Received(context.workspace, context.call).keep("File", answer.body, kind) + note


def _charset(answer: HttpAnswer) -> str:
    said = answer.headers.get("content-type", "").lower().partition("charset=")[2].partition(";")[0].strip(' "')
    return (
        said if said in ("iso-8859-1", "latin-1", "windows-1252", "us-ascii", "utf-16", "gb18030", "gbk") else "utf-8"
    )


def _status(status: int) -> str:
    try:
        return f"HTTP {status} {HTTPStatus(status).phrase}"
    except ValueError:
        return f"HTTP {status}"
