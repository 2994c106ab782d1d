"""Answers of tools that always answer alike, kept for a while in the cache of the site, which may forget them."""

import asyncio
import hashlib
import logging
import time
from collections.abc import Mapping
from dataclasses import dataclass

from django.core.cache import cache

from agentweb.engine.digest import canonical
from agentweb.engine.keeping import Kept
from agentweb.engine.messages import Json
from agentweb.engine.ports import Output, ToolSpec

logger = logging.getLogger(__name__)

LARGEST = 200_000  # characters of one answer


@dataclass(frozen=True, slots=True)
class KeptAnswers:
    """What one run may see: answers of its own team, and where a tool is given more than its arguments (a workspace,
    secrets) only those of its own conversation."""

    team: int
    conversation: int

    async def look(self, tool: ToolSpec, arguments: Mapping[str, Json]) -> Kept | None:
        try:
            found = await asyncio.to_thread(cache.get, self._key(tool, arguments))
        except Exception:  # whatever the cache's server does: the tool is asked instead
            logger.exception("A kept answer could not be read")
            return None
        if found is None:
            return None
        content, full, since = found
        age_s = time.time() - since
        return Kept(Output(content, full), max(0.0, age_s)) if age_s < tool.keep_s else None

    async def keep(self, tool: ToolSpec, arguments: Mapping[str, Json], output: Output) -> None:
        if len(output.content) + len(output.full) > LARGEST:
            return
        value, key = (output.content, output.full, time.time()), self._key(tool, arguments)
        try:
            await asyncio.to_thread(cache.set, key, value, tool.keep_s)
        except Exception:
            logger.exception("An answer could not be kept")

    def _key(self, tool: ToolSpec, arguments: Mapping[str, Json]) -> str:
        """An answer of another definition of the tool, or for another place, has another key."""
        place = None if tool.shared else self.conversation
        said = canonical([self.team, place, tool.name, tool.digest, dict(arguments)])
        return f"answer:{hashlib.sha256(said.encode()).hexdigest()}"
