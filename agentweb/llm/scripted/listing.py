"""Reads what the workspace tools print."""

import re

from agentweb.llm.scripted.scene import Seen

_ENTRY = re.compile(r"^(.+?)(?: \([\d.,]+ [A-Za-z]+\))?$")
_NOTE = re.compile(r"\n\n\[[^\]]+\]\s*\Z")


def listed_paths(listing: str) -> list[str]:
    """The paths of a file listing, one to a line with its size behind; none of an empty folder."""
    if listing.strip().lower().endswith("is empty."):
        return []
    lines = (line.strip() for line in listing.splitlines())
    return [match[1] for line in lines if line and not line.startswith("[") and (match := _ENTRY.match(line))]


def whole_text(read: Seen) -> str:
    """The text of a file that was read, without notes of the tool behind it."""
    return _NOTE.sub("", read.content)
