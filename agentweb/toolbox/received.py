"""What comes back from outside and is no text becomes a file of the conversation, with a note of it."""

import mimetypes
import re
from pathlib import Path
from urllib.parse import unquote, urlsplit

from agentweb.toolbox.paths import WorkspaceError
from agentweb.toolbox.threads import shared_threads
from agentweb.toolbox.workspace import UPLOAD_LIMITS, Workspace, readable_size

FOLDER = "received"
MOST_FILES = 20
LONGEST_STEM = 60


class Received:
    """The files of one call."""

    def __init__(self, workspace: Path, call: str) -> None:
        self._workspace = Workspace(workspace, UPLOAD_LIMITS)
        self._prefix = re.sub(r"[^A-Za-z0-9]", "", call)[:8] or "call"
        self._count = 0

    async def keep(self, kind: str, data: bytes, mime: str, uri: str = "") -> str:
        """A note for the model: ``[Image kept as received/….png (image/png, 4 kB).]``, or why it was not kept."""
        about = f"{mime or 'unknown type'}, {readable_size(len(data))}"
        if self._count >= MOST_FILES:
            return f"[{kind} that was not kept ({about}): there are too many.]"
        self._count += 1
        path = f"{FOLDER}/{self._prefix}-{self._count}{_ending(mime, uri)}"
        try:
            await shared_threads().run(lambda: self._workspace.write_bytes(path, data))
        except WorkspaceError as error:
            return f"[{kind} that was not kept ({about}): {error}]"
        return f"[{kind} kept as {path} ({about}).]"


def _ending(mime: str, uri: str) -> str:
    """``-name.txt`` from the address, else an ending by type. Only characters that every system takes."""
    name = unquote(urlsplit(uri).path).rpartition("/")[2] if uri else ""
    stem, dot, ending = name.rpartition(".")
    kept = re.sub(r"[^A-Za-z0-9_-]+", "-", stem if dot else name).strip("-")[:LONGEST_STEM]
    if not re.fullmatch(r"[A-Za-z0-9]{1,8}", ending) or not dot:
        ending = (mimetypes.guess_extension(mime.partition(";")[0].strip()) or ".bin").removeprefix(".")
    return f"{f'-{kept}' if kept else ''}.{ending}"
