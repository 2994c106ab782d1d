"""Replace one passage of a file of the workspace."""

import codecs
from typing import Annotated

from agentweb.engine.enums import Risk
from agentweb.engine.ports import Done, Finding, NotDone, Preview, ToolContext, Unsure
from agentweb.toolbox.former import Former, restoring
from agentweb.toolbox.parameters import Length
from agentweb.toolbox.path_checks import file_path
from agentweb.toolbox.previews import changed
from agentweb.toolbox.text_files import decode, encode, line_count, lines_in_words, read_text, replace_once
from agentweb.toolbox.tool import tool
from agentweb.toolbox.workspace import Workspace


def preview(context: ToolContext, path: str, old: str, new: str) -> Preview:
    files = Workspace(context.workspace)
    text = read_text(files, path)
    result = replace_once(path, text, old, new)
    files.check_write(path, len(encode(result)))
    return changed(path, text, result)


def outcome(context: ToolContext, path: str, old: str, new: str) -> Finding:
    """Told only where the old and the new passage cannot be taken for each other."""
    text = read_text(Workspace(context.workspace), path).replace("\r\n", "\n")
    old, new = old.replace("\r\n", "\n"), new.replace("\r\n", "\n")
    if old in text and (not new or new not in text):
        return NotDone()
    return Done(_changed(path, old, new)) if new and new in text and old not in text else Unsure()


def _changed(path: str, old: str, new: str) -> str:
    return f"Changed {path}: {lines_in_words(line_count(old))} replaced by {lines_in_words(line_count(new))}."


@tool(
    label="Edit file",
    category="files",
    risk=Risk.MEDIUM,
    check=file_path,
    preview=preview,
    outcome=outcome,
    undo=restoring,
)
def edit_file(context: ToolContext, path: Annotated[str, Length(1)], old: Annotated[str, Length(1)], new: str) -> str:
    """Replace one passage of a text file of the workspace.

    Args:
        path: Path in the workspace, such as src/main.py.
        old: The passage to replace, copied exactly; it must occur once in the file.
        new: The text to put in its place; empty to remove the passage.
    """

    def edit(data: bytes) -> bytes:
        mark = codecs.BOM_UTF8 if data.startswith(codecs.BOM_UTF8) else b""
        return mark + encode(replace_once(path, decode(path, data), old, new))

    Workspace(context.workspace).change(path, edit, keep=Former(context.workspace).keeping(context.call, path))
    return _changed(path, old, new)
