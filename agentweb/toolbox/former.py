"""What files held before calls changed them, kept beside the workspace so that a change can be taken back.

One record per call, bounded in size; the oldest go first. A change whose record cannot be kept is made all the same.
"""

import hashlib
import json
import logging
import os
import re
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentweb.engine.ports import ToolContext

logger = logging.getLogger(__name__)

MOST_BYTES = 50_000_000  # of all records of one conversation
MOST_RECORDS = 500
RESTORES = "restore_file"
_ID = re.compile(r"[0-9A-Za-z_-]{1,64}")

Keep = Callable[[bytes | None, bytes | None], None]
"""Given what a file holds before and after a change; None: there is no file."""


@dataclass(frozen=True, slots=True)
class Record:
    """``before`` is what the file held, None where there was none; ``after`` the digest of what it held then."""

    path: str
    before: bytes | None
    after: str


class Former:
    """The records of one workspace."""

    def __init__(self, workspace: Path, *, most: int = MOST_RECORDS) -> None:
        self._folder = workspace.parent / ".former" / workspace.name
        self._most = most

    def keeping(self, call: str, path: str) -> Keep:
        """Keeps a record of this call's change of this file."""

        def keep(before: bytes | None, after: bytes | None) -> None:
            try:
                self._store(call, Record(path, before, digest_of(after)))
            except OSError:
                logger.exception("What a file held before a change could not be kept")

        return keep

    def has(self, call: str) -> bool:
        return bool(_ID.fullmatch(call)) and (self._folder / call).is_file()

    def find(self, call: str) -> Record | None:
        if not self.has(call):
            return None
        with suppress(OSError, ValueError, KeyError):
            head, _line, data = (self._folder / call).read_bytes().partition(b"\n")
            said = json.loads(head)
            return Record(said["path"], data if said["file"] else None, said["after"])
        return None

    def _store(self, call: str, record: Record) -> None:
        if not _ID.fullmatch(call):
            return
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        said = {"path": record.path, "file": record.before is not None, "after": record.after}
        with tempfile.NamedTemporaryFile(dir=self._folder, prefix=".", delete=False) as file:
            file.write(json.dumps(said).encode() + b"\n" + (record.before or b""))
            file.flush()
            os.fsync(file.fileno())
        os.replace(file.name, self._folder / call)
        self._bound()

    def _bound(self) -> None:
        """Another process may do the same at this moment."""
        found = []
        for each in os.scandir(self._folder):
            with suppress(OSError):
                found.append((each.stat().st_mtime_ns, each.stat().st_size, each.path))
        found.sort(reverse=True)
        size = 0
        for number, (_at, bytes_there, path) in enumerate(found):
            size += bytes_there
            if number >= self._most or (size > MOST_BYTES and number):
                with suppress(OSError):
                    os.unlink(path)


def digest_of(data: bytes | None) -> str:
    """Empty where there is no file."""
    return "" if data is None else hashlib.sha256(data).hexdigest()


def restoring(arguments: Mapping[str, Any], result: str, context: ToolContext) -> tuple[str, Mapping[str, Any]] | None:
    """How a change of the file ``path`` is taken back, as long as its record is there."""
    if not Former(context.workspace).has(context.call):
        return None
    return RESTORES, {"path": arguments["path"], "change": context.call}
