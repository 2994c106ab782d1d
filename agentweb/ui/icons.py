"""Inline SVG icons: one file each, read once, written into the page so that they take the text's colour."""

import re
from functools import cache
from pathlib import Path

from django.utils.safestring import SafeString, mark_safe

FOLDER = Path(__file__).resolve().parent / "icons"
_SHAPES = re.compile(r"<svg[^>]*>(.*)</svg>", re.DOTALL)
_SPACE = re.compile(r"\s*\n\s*")


@cache
def shapes(name: str) -> str:
    """What is drawn inside the SVG element. Raises LookupError for a name that has no file."""
    path = FOLDER / f"{name}.svg"
    if not path.is_file():
        raise LookupError(f"There is no icon named {name!r}.")
    found = _SHAPES.search(path.read_text())
    assert found, f"{path.name} is not an SVG file"
    return _SPACE.sub("", found[1])


def icon(name: str, css: str = "") -> SafeString:
    """The icon as decoration: hidden from assistive technology, so a word must always stand beside it."""
    return mark_safe(
        f'<svg class="icon {css}" viewBox="0 0 24 24" width="18" height="18" fill="none" stroke="currentColor" '
        f'stroke-width="2" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">{shapes(name)}</svg>'
    )
