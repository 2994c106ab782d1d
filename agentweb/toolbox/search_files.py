"""Where a text occurs in the files of the workspace."""

from collections.abc import Iterator
from itertools import islice
from typing import Annotated

from agentweb.engine.enums import Risk
from agentweb.engine.ports import ToolContext, ToolError
from agentweb.toolbox.parameters import Length
from agentweb.toolbox.path_checks import folder_path
from agentweb.toolbox.paths import NotFound, WorkspaceError
from agentweb.toolbox.text_files import read_text
from agentweb.toolbox.tool import tool
from agentweb.toolbox.workspace import Entry, Workspace

MOST_MATCHES = 100
MOST_LINE = 200  # characters shown of one line


@tool(label="Search files", category="files", reads=True, repeatable=True, risk=Risk.LOW, check=folder_path)
def search_files(context: ToolContext, query: Annotated[str, Length(1, 1000)], path: str | None = None) -> str:
    """Find lines that contain a text in the text files of the workspace. Capital letters make no difference.

    Args:
        query: The text to find, taken as it is; not a pattern.
        path: A folder or file to search in; the whole workspace when left out.
    """
    files = Workspace(context.workspace)
    found = list(islice(_matches(files, _chosen(files, path or ""), query.casefold(), context), MOST_MATCHES + 1))
    if not found:
        return f'Nothing found for "{query}".'
    note = [f"[Only the first {MOST_MATCHES} matches are shown.]"] if len(found) > MOST_MATCHES else []
    return "\n".join(found[:MOST_MATCHES] + note)


def _chosen(files: Workspace, path: str) -> list[Entry]:
    """The file of that path, or the files of that folder."""
    plain = path.rstrip("/")
    if plain in ("", "."):
        return files.list()
    entries = [entry for entry in files.list() if entry.path == plain or entry.path.startswith(f"{plain}/")]
    if not entries:
        raise NotFound(f'There is no file or folder "{path}".')
    return entries


def _matches(files: Workspace, entries: list[Entry], folded: str, context: ToolContext) -> Iterator[str]:
    for entry in entries:
        if context.cancelled():
            raise ToolError("The search was cancelled.")
        try:
            text = read_text(files, entry.path)
        except WorkspaceError:  # not text, or gone meanwhile
            continue
        for number, line in enumerate(text.split("\n"), 1):
            if folded in line.casefold():
                yield f"{entry.path}:{number}: {_shortened(line.strip(), folded)}"


def _shortened(line: str, folded: str) -> str:
    """A long line around its match."""
    if len(line) <= MOST_LINE:
        return line
    start = max(0, line.casefold().find(folded) - MOST_LINE // 4)
    end = start + MOST_LINE
    return ("…" if start else "") + line[start:end] + ("…" if end < len(line) else "")
