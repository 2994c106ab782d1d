"""How a file of the workspace may be named: one plain spelling per file, the same on every system.

Pure text rules, so that a bad path is refused before anybody is asked and before any file is touched.
"""

import re
import unicodedata
from urllib.parse import unquote

from agentweb.engine.ports import ToolError
from agentweb.toolbox.invisible import first_in_name

MAX_NAME_BYTES = 255
MAX_PATH_BYTES = 1024
MAX_DEPTH = 32
PART_PREFIX = ".agentweb-part-"  # files that are being written

_DEVICES = frozenset({"con", "prn", "aux", "nul"} | {f"{port}{n}" for port in ("com", "lpt") for n in "0123456789¹²³"})
_DRIVE = re.compile(r"[A-Za-z]:")


class WorkspaceError(ToolError):
    """Something that the workspace does not do. The text is a sentence for people and for the model."""


class NotFound(WorkspaceError):
    """There is no such file or folder."""


class Refused(WorkspaceError):
    """The path or the change is not allowed."""


class TooLarge(WorkspaceError):
    """The file, or the workspace with it, would pass a size limit."""


def parse(path: str) -> tuple[str, ...]:
    """The names that lead to a file, from the workspace down. Raises Refused, naming what is wrong."""
    if not path.strip():
        raise Refused("The path is empty: name a file, for example notes.txt.")
    hidden = first_in_name(path)
    if hidden:
        raise Refused(f"The path holds a control or invisible character ({hidden}).")
    _refuse_outside(path)
    if len(path.encode()) > MAX_PATH_BYTES:
        raise Refused(f"The path is longer than {MAX_PATH_BYTES} bytes.")
    if not unicodedata.is_normalized("NFC", path):
        raise Refused("The path holds letters with separate accents: write them in composed form (Unicode NFC).")
    parts = tuple(path.split("/"))
    if "" in parts or "." in parts:
        plain = "/".join(part for part in parts if part not in ("", "."))
        raise Refused(f'Write the path "{path}" plainly, as "{plain or "notes.txt"}".')
    if len(parts) > MAX_DEPTH:
        raise Refused(f"The path has more than {MAX_DEPTH} parts.")
    for name in parts:
        _check_name(name)
    return parts


def parse_folder(path: str) -> tuple[str, ...]:
    """Like `parse`, but nothing, ``.`` and ``./`` mean the workspace itself, and a slash may end the path."""
    if path in ("", ".", "./"):
        return ()
    return parse(path[:-1] if path.endswith("/") and len(path) > 1 else path)


def _refuse_outside(path: str) -> None:
    """Everything that could lead out of the workspace, in any of the ways to write it."""
    readings = _readings(path)
    for text in readings:
        if text.startswith("/"):
            raise Refused(f'"{path}" is an absolute path; paths start in the workspace, for example notes.txt.')
        if _DRIVE.match(text):
            raise Refused(f'"{path}" names a drive; paths start in the workspace, for example notes.txt.')
        if "\\" in text:
            raise Refused(f'"{path}" holds a backslash; write folders with "/".')
        if ".." in text.split("/"):
            raise Refused(f'"{path}" leads out of its folder; ".." is not allowed.')
        if text == "~" or text.startswith("~/"):
            raise Refused(f'"{path}" names a home folder; paths start in the workspace, for example notes.txt.')
    for text in readings[1:]:
        if first_in_name(text) or text.count("/") != path.count("/") or "." in text.split("/"):
            raise Refused(f'"{path}" holds percent escapes that change its meaning; write it plainly.')
    if ":" in path:
        raise Refused(f'"{path}" holds a colon, which some systems do not allow in names.')


def _readings(path: str) -> list[str]:
    """The path, and what it becomes when percent escapes in it are decoded, again and again while they matter."""
    readings = [path]
    while len(readings) < 5 and (decoded := unquote(readings[-1])) != readings[-1]:
        readings.append(decoded)
    return readings


def _check_name(name: str) -> None:
    if len(name.encode()) > MAX_NAME_BYTES:
        raise Refused(f'The name "{name[:40]}…" is longer than {MAX_NAME_BYTES} bytes.')
    if name != name.strip() or name.endswith("."):
        raise Refused(f'The name "{name}" starts or ends with a space or ends with a dot.')
    if name.split(".")[0].rstrip().casefold() in _DEVICES or name.startswith(PART_PREFIX):
        raise Refused(f'The name "{name}" is reserved.')
