"""Make a file of the workspace, or put new text in its place."""

from typing import Annotated

from agentweb.engine.enums import Risk
from agentweb.engine.ports import Done, Finding, NotDone, Preview, ToolContext, Unsure
from agentweb.toolbox.former import Former, restoring
from agentweb.toolbox.parameters import Length
from agentweb.toolbox.path_checks import file_path
from agentweb.toolbox.paths import NotFound, Refused
from agentweb.toolbox.previews import changed, created, replaced
from agentweb.toolbox.text_files import encode, find_text, line_count, lines_in_words
from agentweb.toolbox.tool import tool
from agentweb.toolbox.workspace import Workspace, readable_size


def preview(context: ToolContext, path: str, content: str) -> Preview:
    files = Workspace(context.workspace)
    files.check_write(path, len(encode(content)))
    try:
        old = find_text(files, path)
    except Refused:  # there, but not text
        return replaced(path, files.stat(path).size, content)
    return created(path, content) if old is None else changed(path, old, content)


def outcome(context: ToolContext, path: str, content: str) -> Finding:
    """A file is written as a whole or not at all; one with another text may have been changed since."""
    data = encode(content)
    try:
        there = Workspace(context.workspace).read_bytes(path)
    except NotFound:
        return NotDone()
    return Done(_wrote(path, content, len(data))) if there == data else Unsure()


def _wrote(path: str, content: str, size: int) -> str:
    return f"Wrote {path} ({lines_in_words(line_count(content))}, {readable_size(size)})."


@tool(
    label="Write file",
    category="files",
    risk=Risk.MEDIUM,
    check=file_path,
    preview=preview,
    outcome=outcome,
    undo=restoring,
)
def write_file(context: ToolContext, path: Annotated[str, Length(1)], content: str) -> str:
    """Write a text file of the workspace. A file that is already there is replaced as a whole.

    Args:
        path: Path in the workspace, such as src/main.py; folders are made as needed.
        content: The whole text of the file.
    """
    entry = Workspace(context.workspace).write_bytes(
        path, encode(content), keep=Former(context.workspace).keeping(context.call, path)
    )
    return _wrote(path, content, entry.size)
