"""Take back a change of a file of the workspace."""

from typing import Annotated

from agentweb.engine.enums import Risk
from agentweb.engine.ports import Preview, ToolContext, ToolError
from agentweb.toolbox.former import Former, Record, digest_of, restoring
from agentweb.toolbox.parameters import Length
from agentweb.toolbox.path_checks import file_path
from agentweb.toolbox.paths import NotFound
from agentweb.toolbox.previews import changed, created, deleted, replaced
from agentweb.toolbox.tool import tool
from agentweb.toolbox.workspace import UPLOAD_LIMITS, Workspace


def preview(context: ToolContext, path: str, change: str) -> Preview:
    files, record = Workspace(context.workspace, UPLOAD_LIMITS), _record(context, path, change)
    try:
        now: bytes | None = files.read_bytes(path)
    except NotFound:
        now = None
    _unchanged(record, now)
    before, present = _text(record.before), _text(now)
    if record.before is None:
        return deleted(path, len(now or b""), present or "")
    if before is None:
        return Preview(f"Puts back {path} ({len(record.before)} B, not text)")
    if now is None:
        return created(path, before)
    return replaced(path, len(now), before) if present is None else changed(path, present, before)


@tool(label="Restore file", category="files", risk=Risk.MEDIUM, check=file_path, preview=preview, undo=restoring)
def restore_file(context: ToolContext, path: Annotated[str, Length(1)], change: Annotated[str, Length(1, 64)]) -> str:
    """Take back an earlier change of a file of the workspace, if nothing has changed the file since.

    Args:
        path: Path in the workspace, such as src/main.py.
        change: The id of the call that changed it.
    """
    record = _record(context, path, change)
    files = Workspace(context.workspace, UPLOAD_LIMITS)
    keep = Former(context.workspace).keeping(context.call, path)
    files.put_back(path, record.before, check=lambda now: _unchanged(record, now), keep=keep)
    if record.before is None:
        return f"Deleted {path}, which was not there before that change."
    return f"Put back {path} as it was before that change."


def _record(context: ToolContext, path: str, change: str) -> Record:
    record = Former(context.workspace).find(change)
    if record is None or record.path != path:
        raise ToolError(f'What "{path}" held before that change is not kept any more.')
    return record


def _unchanged(record: Record, now: bytes | None) -> None:
    """Raises ToolError where something else has happened to the file."""
    if digest_of(now) != record.after:
        raise ToolError(f'"{record.path}" has changed since then, so nothing was put back.')


def _text(data: bytes | None) -> str | None:
    """None for what is not text."""
    try:
        return None if data is None or b"\0" in data else data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
