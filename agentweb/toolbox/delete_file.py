"""Remove a file of the workspace."""

from typing import Annotated

from agentweb.engine.enums import Risk
from agentweb.engine.ports import Done, Finding, NotDone, Preview, ToolContext
from agentweb.toolbox.former import Former, restoring
from agentweb.toolbox.parameters import Length
from agentweb.toolbox.path_checks import file_path
from agentweb.toolbox.paths import NotFound, Refused
from agentweb.toolbox.previews import deleted
from agentweb.toolbox.text_files import read_text
from agentweb.toolbox.tool import tool
from agentweb.toolbox.workspace import Workspace, readable_size


def preview(context: ToolContext, path: str) -> Preview:
    files = Workspace(context.workspace)
    size = files.stat(path).size
    try:
        text = read_text(files, path)
    except Refused:
        text = ""  # not text: there is nothing to show of it
    return deleted(path, size, text)


def outcome(context: ToolContext, path: str) -> Finding:
    try:
        Workspace(context.workspace).stat(path)
    except NotFound:
        return Done(f"Deleted {path}.")
    return NotDone()


@tool(
    label="Delete file",
    category="files",
    risk=Risk.HIGH,
    check=file_path,
    preview=preview,
    outcome=outcome,
    undo=restoring,
)
def delete_file(context: ToolContext, path: Annotated[str, Length(1)]) -> str:
    """Delete one file of the workspace for good. Folders that become empty go with it.

    Args:
        path: Path in the workspace, such as old/notes.txt.
    """
    entry = Workspace(context.workspace).delete(path, keep=Former(context.workspace).keeping(context.call, path))
    return f"Deleted {path} ({readable_size(entry.size)})."
