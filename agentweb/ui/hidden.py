"""Text for people to judge: escaped, with every character that cannot be seen or that deceives shown as a mark."""

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from agentweb.schema.text import Segment, has_marks, visible


def hides_something(text: str) -> bool:
    """Whether a warning is due: something is hidden, or looks like something else."""
    return has_marks(text) and any(segment.name and not _is_ordinary(segment) for segment in visible(text))


def visible_html(text: str) -> SafeString:
    """Safe HTML of the text; a zero-width space becomes a mark that reads U+200B and is titled with its name."""
    return format_html_join("", "{}", ((_piece(segment),) for segment in visible(text)))


def _piece(segment: Segment) -> str:
    if not segment.name or _is_ordinary(segment):
        return segment.text
    css = "hidden-char" if segment.hidden else "look-alike"
    return format_html('<mark class="{}" title="{}">{}</mark>', css, segment.name, segment.text)


def _is_ordinary(segment: Segment) -> bool:
    """Wide punctuation beside Latin letters is how Chinese and Japanese text is written."""
    return not segment.hidden and segment.name.startswith("FULLWIDTH ") and not segment.source.isalnum()
