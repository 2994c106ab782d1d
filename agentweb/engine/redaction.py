"""Taking secrets out of tool results before anyone reads them: the model, the record, people.

Only what its issuer marks as a secret is taken for one. A rule that guesses by names, such as `password=…`, would
spoil the files that agents work on.
"""

import re
from collections.abc import Iterable
from dataclasses import replace

from agentweb.engine.messages import ToolCall, ToolResult
from agentweb.engine.seams import About

REMOVED = "[secret removed]"
SHAPES = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)",
    r"\b(?:sk|rk|gsk|xai|pplx|nvapi)-[A-Za-z0-9_-]{16,}",  # model providers
    r"\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}",
    r"\bAKIA[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\bxox[abprs]-[\w-]{10,}",
    r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]+",  # JSON web tokens
)


class Redaction:
    """The extension that is installed unless a site leaves it out. ``shapes`` are regular expressions of secrets."""

    name = "redaction"
    priority = 900  # after others, so that nothing they add slips through

    def __init__(self, shapes: Iterable[str] = SHAPES) -> None:
        self._shapes = re.compile("|".join(f"(?:{shape})" for shape in shapes))

    async def after_tool(self, call: ToolCall, result: ToolResult, about: About) -> ToolResult | None:
        content, full = self._clean(result.content), self._clean(result.full)
        if (content, full) == (result.content, result.full):
            return None
        return replace(result, content=content, full=full)

    def _clean(self, text: str) -> str:
        return self._shapes.sub(REMOVED, text)
