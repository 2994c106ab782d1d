"""What a function's docstring says about it: the text for the model, and one line for each parameter."""

import inspect
import re

_HEADER = re.compile(r"(Args|Arguments|Parameters)\s*:\s*")
_ENTRY = re.compile(r"\*{0,2}(\w+)\s*(?:\([^)]*\))?\s*:\s*(.*)")


def read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """The description, and the descriptions of parameters by name.

    A parameter stands below a line ``Args:``, indented, as ``name: text`` or ``name (type): text``; lines that are
    indented deeper go on with it. The description is everything else.
    """
    before: list[str] = []
    entries: dict[str, list[str]] = {}
    indent: int | None = None  # of the entries; None while outside the section
    inside, current = False, ""
    for line in inspect.cleandoc(text).splitlines():
        depth = len(line) - len(line.lstrip())
        if not inside or (line.strip() and depth == 0):
            inside, indent = bool(_HEADER.fullmatch(line)), None
            if not inside:
                before.append(line)
            continue
        indent = depth if indent is None and line.strip() else indent
        entry = _ENTRY.fullmatch(line.strip()) if depth == indent else None
        if entry:
            current = entry[1]
            entries[current] = [entry[2]]
        elif line.strip() and current:
            entries[current].append(line.strip())
    description = re.sub(r"\n{3,}", "\n\n", "\n".join(before)).strip()
    return description, {name: " ".join(lines).strip() for name, lines in entries.items()}
