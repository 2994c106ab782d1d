"""What is wrong with the path in a call's arguments, found before anybody is asked and without touching a file."""

from collections.abc import Callable, Mapping
from typing import Any

from agentweb.engine.messages import Json
from agentweb.toolbox.paths import Refused, parse, parse_folder


def file_path(arguments: Mapping[str, Json]) -> list[str]:
    """The problem of ``path`` where it must name a file."""
    return _problems(parse, arguments["path"])


def folder_path(arguments: Mapping[str, Json]) -> list[str]:
    """The problem of ``path`` where it may be left out or name a folder."""
    return _problems(parse_folder, arguments.get("path") or "")


def _problems(rule: Callable[[str], Any], path: str) -> list[str]:
    try:
        rule(path)
    except Refused as error:
        return [f"path: {error}"]
    return []
