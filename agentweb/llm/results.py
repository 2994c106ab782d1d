"""The text of tool results as it goes to a model: marked when it is an error, never with encoded files in it."""

import re
from collections.abc import Iterable

from agentweb.engine.enums import ResultKind
from agentweb.engine.messages import ToolResult
from agentweb.schema.text import clean

MISSING_RESULT = "Cancelled: the call was cancelled by the user and did not finish, so there is no result."

_LABELS = {
    ResultKind.ERROR: "Error",
    ResultKind.TIMEOUT: "Timed out",
    ResultKind.UNKNOWN_TOOL: "Error",
    ResultKind.INVALID_ARGUMENTS: "Error",
    ResultKind.DENIED: "Not allowed",
    ResultKind.REJECTED: "Rejected",
    ResultKind.EXPIRED: "Expired",
    ResultKind.CANCELLED: "Cancelled",
    ResultKind.NOT_RUN: "Not run",
}
_SAYS_SO = ("error", "not run", "not allowed", "cancelled", "rejected", "expired", "timed out")
# How far a result is from being the tool's own: of two results for one call the nearer one is sent.
_NEARNESS = {ResultKind.OK: 0, ResultKind.ANSWERED: 0, ResultKind.ERROR: 1, ResultKind.TIMEOUT: 1}

_DATA_URI = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.+-]+)*;base64,[A-Za-z0-9+/=_…\-]*")
_BARE_BASE64 = re.compile(r"[A-Za-z0-9+/]{2048,}={0,2}")


def wire_result(result: ToolResult) -> str:
    """An error names its kind in front, so that a model can tell it from data."""
    text = without_files(clean(result.content), result.call)
    label = _LABELS.get(result.kind)
    if label is None and not text.strip():
        return "(no output)"  # some providers refuse an empty result
    if label is None or text.lower().startswith(_SAYS_SO):
        return text
    return f"{label}: {text}" if text else f"{label}."


def without_files(text: str, call: str = "") -> str:
    """Files written out in base64 become a short note of type and size; they would cost a fortune as text."""
    where = f", of call {call}" if call else ""

    def note(kind: str, encoded: int) -> str:
        return f"[{kind}, {_size(encoded * 3 // 4)}{where}: a file, not shown as text]"

    if "base64," in text:
        text = _DATA_URI.sub(lambda m: note(m[1] or "data", len(m[0]) - m[0].index("base64,") - 7), text)
    return _BARE_BASE64.sub(lambda m: note("encoded data", len(m[0])), text)


def _size(count: int) -> str:
    if count < 1000:
        return f"{count} bytes"
    return f"{count / 1000:.1f} kB" if count < 1_000_000 else f"{count / 1_000_000:.1f} MB"


def real_result(results: Iterable[ToolResult]) -> ToolResult | None:
    """Of several results for one call the tool's own, and of equals the last: a placeholder gives way to it."""
    best = None
    for result in results:
        if best is None or _NEARNESS.get(result.kind, 2) <= _NEARNESS.get(best.kind, 2):
            best = result
    return best
