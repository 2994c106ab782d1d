"""What is in the workspace."""

from agentweb.engine.enums import Risk
from agentweb.engine.ports import ToolContext
from agentweb.toolbox.path_checks import folder_path
from agentweb.toolbox.tool import tool
from agentweb.toolbox.workspace import Workspace, readable_size


@tool(label="List files", category="files", reads=True, repeatable=True, risk=Risk.LOW, check=folder_path)
def list_files(context: ToolContext, path: str | None = None) -> str:
    """List the files of the workspace with their sizes, those in subfolders included.

    Args:
        path: A folder, such as src; the whole workspace when left out.
    """
    entries = Workspace(context.workspace).list(path or "")
    if not entries:
        return "The workspace is empty." if (path or ".") in (".", "./") else f'The folder "{path}" is empty.'
    return "\n".join(f"{entry.path} ({readable_size(entry.size)})" for entry in entries)
