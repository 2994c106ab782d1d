"""Reads `.env`: one `NAME=value` a line, comments, quotes, an optional `export`."""

import re
from pathlib import Path

from agentweb.launch.refusal import MISCONFIGURED, Refusal

_LINE = re.compile(r"(?:export\s+)?([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)")
_QUOTED = re.compile(r"""(["'])(.*)\1\s*(?:#.*)?""")


def read(path: Path) -> dict[str, str]:
    """The variables of the file, none when there is no file. Raises Refusal naming file and line otherwise."""
    if not path.is_file():
        return {}
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Refusal(f"{path} cannot be read: {error}.", MISCONFIGURED) from error
    return dict(_pair(path, number, line) for number, line in enumerate(lines, 1) if _holds_something(line))


def _holds_something(line: str) -> bool:
    return bool(line.strip()) and not line.lstrip().startswith("#")


def _pair(path: Path, number: int, line: str) -> tuple[str, str]:
    found = _LINE.fullmatch(line.strip())
    if not found:
        raise Refusal(f"{path}, line {number}: expected NAME=value.", MISCONFIGURED)
    return found[1], _value(found[2])


def _value(text: str) -> str:
    quoted = _QUOTED.fullmatch(text)
    if quoted:
        return quoted[2]
    return re.split(r"\s+#|^#", text, maxsplit=1)[0].strip()
