"""What an MCP server gives back, as text for the model and files for people."""

import base64
import binascii
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import mcp_types as types

from agentweb.engine.ports import Output, ToolError
from agentweb.toolbox.received import Received

MOST_LINKS = 5

Read = Callable[[str], Awaitable[types.ReadResourceResult]]


class Receiver:
    """Takes one result apart. ``read`` follows a link to the server that gave it."""

    def __init__(self, workspace: Path, call: str, read: Read) -> None:
        self._files = Received(workspace, call)
        self._read = read
        self._links = 0

    async def output(self, result: types.CallToolResult) -> Output:
        """Raises ToolError for what the server calls an error."""
        parts = [part for block in result.content if (part := await self._part(block))]
        given = result.structured_content
        structured = "" if given is None else json.dumps(given, ensure_ascii=False)
        text = "\n\n".join(parts) or structured
        if result.is_error:
            raise ToolError(text or "The tool failed and did not say why.")
        full = f"{text}\n\n{structured}" if structured and not _says_it_already(text, given) else ""
        return Output(text, full)

    async def _part(self, block: types.ContentBlock) -> str:
        match block:
            case types.TextContent(text=text):
                return text
            case types.ImageContent() | types.AudioContent():
                kind = "Image" if isinstance(block, types.ImageContent) else "Audio"
                return await self._file(kind, _bytes(block.data), block.mime_type, "")
            case types.EmbeddedResource(resource=resource):
                return await self._resource(resource)
            case types.ResourceLink():
                return await self._link(block)
        return "[Something that cannot be shown.]"

    async def _resource(self, resource: Any) -> str:
        mime = resource.mime_type or ""
        if isinstance(resource, types.TextResourceContents):
            data = resource.text.encode("utf-8", "replace")
            note = await self._file("Text", data, mime or "text/plain", resource.uri)
            return f"{resource.text}\n\n{note}" if resource.text else note
        return await self._file("File", _bytes(resource.blob), mime, resource.uri)

    async def _link(self, link: types.ResourceLink) -> str:
        self._links += 1
        told = f"[Link to {link.uri}"
        if self._links > MOST_LINKS:
            return f"{told}: not followed, since there are too many.]"
        try:
            found = await self._read(link.uri)
        except Exception as error:  # whatever a server or the SDK makes of it: the rest of the result counts
            return f"{told}: it could not be read ({type(error).__name__}).]"
        return "\n\n".join([await self._resource(each) for each in found.contents]) or f"{told}: there is nothing.]"

    async def _file(self, kind: str, data: bytes | None, mime: str, uri: str) -> str:
        if data is None:
            return f"[{kind} that cannot be read: its data are damaged.]"
        return await self._files.keep(kind, data, mime, uri)


def _bytes(data: str) -> bytes | None:
    try:
        return base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return None


def _says_it_already(text: str, structured: Any) -> bool:
    try:
        return bool(json.loads(text) == structured)
    except ValueError:
        return False
