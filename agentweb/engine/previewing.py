"""What a call would do, found out without doing it: when people are asked, and again right before it runs."""

import asyncio
import logging
from collections.abc import Mapping

from agentweb.engine import sentences
from agentweb.engine.messages import Json
from agentweb.engine.ports import Preview, Tool, ToolContext, ToolError

logger = logging.getLogger(__name__)
PREVIEW_S = 10.0  # a preview that takes longer counts as failed, since people wait for the card
FAILED = "failed"  # the kind of what stands in for a preview that could not be made


def look(tool: Tool, arguments: Mapping[str, Json], context: ToolContext) -> Preview | None:
    """What the call would do, or that nobody knows: a failed preview must not keep people from deciding. May block.

    None: the tool has no preview."""
    try:
        return tool.preview(arguments, context)
    except ToolError as error:
        return Preview(str(error))
    except Exception:
        logger.warning("The tool %s has no preview for a call", tool.spec.name, exc_info=True)
        return unknown()


async def look_in_time(tool: Tool, arguments: Mapping[str, Json], context: ToolContext) -> Preview | None:
    """The same, in a thread and for at most `PREVIEW_S`."""
    try:
        return await asyncio.wait_for(asyncio.to_thread(look, tool, arguments, context), PREVIEW_S)
    except TimeoutError:
        logger.warning("The preview of the tool %s took too long", tool.spec.name)
        return unknown()


def unknown() -> Preview:
    return Preview(sentences.NO_PREVIEW, FAILED)


def shown(preview: Preview | None) -> Mapping[str, Json] | None:
    """What the card shows below the effect, as JSON: ``kind`` and ``data``; None where the effect says it all."""
    if preview is None or not preview.kind:
        return None
    return {"kind": preview.kind, "data": dict(preview.data)}
