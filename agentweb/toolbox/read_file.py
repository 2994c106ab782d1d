"""The text of a file of the workspace."""

from agentweb.engine.enums import Risk
from agentweb.engine.ports import ToolContext
from agentweb.toolbox.path_checks import file_path
from agentweb.toolbox.results import MOST_CHARACTERS
from agentweb.toolbox.text_files import decode, read_text
from agentweb.toolbox.tool import tool
from agentweb.toolbox.workspace import TOOL_LIMITS, Workspace, readable_size

_HEAD = MOST_CHARACTERS - 200  # leaves room for the note


@tool(label="Read file", category="files", reads=True, repeatable=True, risk=Risk.LOW, check=file_path)
def read_file(context: ToolContext, path: str) -> str:
    """Read a text file of the workspace. Of a long file, the beginning is given.

    Args:
        path: Path in the workspace, such as src/main.py.
    """
    files = Workspace(context.workspace)
    size = files.stat(path).size
    if size > TOOL_LIMITS.file_bytes:
        return _beginning(files, path, size)
    return read_text(files, path) or f'The file "{path}" is empty.'


def _beginning(files: Workspace, path: str, size: int) -> str:
    """Of a file that is too large to be kept with the call, only what the model reads."""
    data = files.read_bytes(path, at_most=4 * _HEAD)
    text = decode(path, _whole_characters(data))[:_HEAD]
    return f"{text}\n\n[Cut: these are the first {len(text):,} characters of a file of {readable_size(size)}.]"


def _whole_characters(data: bytes) -> bytes:
    """Without the beginning of a character that the end of the piece cuts in two."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return data[: error.start] if error.reason == "unexpected end of data" else data
    return data
