"""From what a tool returns to what the model reads: text, nothing hidden in it, and not too long."""

import json
from typing import Any

from agentweb.engine.ports import Output
from agentweb.toolbox.invisible import reveal

MOST_CHARACTERS = 20_000


def to_output(value: Any, most: int = MOST_CHARACTERS) -> Output:
    """Whatever is not text becomes JSON. Where the text for the model is changed or cut, ``full`` keeps the whole."""
    if isinstance(value, Output):
        content, full = value.content, value.full
    else:
        content = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
        full = ""
    shown = for_model(content, most)
    return Output(shown, full or (content if shown != content else ""))


def for_model(text: str, most: int = MOST_CHARACTERS) -> str:
    """The text as the model may read it, with a note of what was changed."""
    shown, hidden = reveal(text)
    notes = []
    if len(shown) > most:
        notes.append(f"[Cut: these are the first {most:,} of {len(shown):,} characters.]")
    if hidden:
        notes.append(f"[Invisible characters were made visible as <U+…>: {hidden:,} of them.]")
    return "\n\n".join([shown[:most], *notes])
