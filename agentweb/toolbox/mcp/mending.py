"""Lists of tools from servers that do not keep to the protocol: one tool that is wrong must not hide the others.

The SDK refuses a whole list for it, so such tools are mended before it reads them, and judged by what was sent."""

from collections.abc import Mapping
from types import TracebackType
from typing import Any

from mcp.shared._stream_protocols import ReadStream
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCResponse

AS_SENT = "x-agentweb-as-sent"  # stands in a schema that was put in the place of another
HINTS = ("readOnlyHint", "destructiveHint", "idempotentHint", "openWorldHint")


class Mended:
    """The messages of a server, with its lists of tools mended."""

    def __init__(self, stream: ReadStream[SessionMessage | Exception]) -> None:
        self._stream = stream

    @property
    def last_context(self) -> Any:
        return getattr(self._stream, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        return _mended(await self._stream.receive())

    async def aclose(self) -> None:
        await self._stream.aclose()

    def __aiter__(self) -> "Mended":
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return _mended(await self._stream.__anext__())

    async def __aenter__(self) -> "Mended":
        await self._stream.__aenter__()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool | None:
        return await self._stream.__aexit__(kind, error, trace)


def _mended(said: SessionMessage | Exception) -> SessionMessage | Exception:
    if isinstance(said, SessionMessage) and isinstance(said.message, JSONRPCResponse):
        tools = said.message.result.get("tools")
        if isinstance(tools, list):
            said.message.result["tools"] = [_tool(each) for each in tools if isinstance(each, Mapping)]
    return said


def _tool(said: Mapping[str, Any]) -> dict[str, Any]:
    """Only what is looked at, in the form that it must have."""
    texts = {name: said[name] for name in ("title", "description") if isinstance(said.get(name), str)}
    tool: dict[str, Any] = {
        "name": str(said.get("name") or ""),
        **texts,
        "inputSchema": _schema(said.get("inputSchema")),
    }
    if isinstance(said.get("outputSchema"), Mapping) and said["outputSchema"].get("type") == "object":
        tool["outputSchema"] = said["outputSchema"]
    if isinstance(hints := said.get("annotations"), Mapping):
        tool["annotations"] = {name: hints[name] for name in HINTS if isinstance(hints.get(name), bool)}
        if isinstance(hints.get("title"), str):
            tool["annotations"]["title"] = hints["title"]
    return tool


def _schema(said: Any) -> dict[str, Any]:
    if isinstance(said, dict) and said.get("type") == "object":
        return said
    return {"type": "object", AS_SENT: said}


def as_sent(schema: Any) -> Any:
    """The schema that the server sent."""
    return schema[AS_SENT] if isinstance(schema, Mapping) and AS_SENT in schema else schema
