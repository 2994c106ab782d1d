"""Text in files: reading it, changing one passage of it, and saying what a change does."""

import mimetypes

from agentweb.toolbox.paths import NotFound, Refused
from agentweb.toolbox.workspace import Workspace, readable_size


def decode(path: str, data: bytes) -> str:
    """The text of a UTF-8 file, without a byte order mark. Raises Refused, with type and size, for other files."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        kind = mimetypes.guess_type(path)[0] or "unknown type"
        raise Refused(f'"{path}" is not a text file ({kind}, {readable_size(len(data))}).')
    return text


def encode(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        raise Refused("The text holds half a character (a lone surrogate), which no file can keep.") from None


def read_text(files: Workspace, path: str) -> str:
    return decode(path, files.read_bytes(path))


def find_text(files: Workspace, path: str) -> str | None:
    """The text of the file, or None when there is no such file."""
    try:
        return read_text(files, path)
    except NotFound:
        return None


def replace_once(path: str, text: str, old: str, new: str) -> str:
    """The text with the one passage ``old`` replaced. Raises Refused unless it occurs exactly once."""
    if not old:
        raise Refused("The old text is empty: give the passage to replace.")
    if old == new:
        raise Refused("The old and the new text are the same: there is nothing to change.")
    if old not in text and "\r\n" in text:  # models write plain line ends, whatever the file has
        old, new = (part.replace("\r\n", "\n").replace("\n", "\r\n") for part in (old, new))
    found = _count(text, old)
    if found == 0:
        raise Refused(f'The old text does not occur in "{path}". Read the file again and copy the passage exactly.')
    if found > 1:
        raise Refused(f'The old text occurs {found} times in "{path}". Give a longer passage that occurs once.')
    return text.replace(old, new)


def _count(text: str, passage: str) -> int:
    """How often the passage occurs, overlaps included."""
    found, at = 0, text.find(passage)
    while at >= 0:
        found, at = found + 1, text.find(passage, at + 1)
    return found


def line_count(text: str) -> int:
    return text.count("\n") + (not text.endswith("\n") and text != "")


def lines_in_words(count: int) -> str:
    return "1 line" if count == 1 else f"{count:,} lines"
