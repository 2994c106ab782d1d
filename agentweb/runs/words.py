"""Text that people hand in beside a message: comments, reasons, results."""

from typing import Any

from django.utils.translation import gettext as _

from agentweb.runs.errors import Invalid
from agentweb.schema.text import clean


def words_of(field: str, text: Any, longest: int) -> str:
    """Clean text without blank ends. Raises Invalid, with the field, for anything else."""
    if not isinstance(text, str):
        raise Invalid(_("This must be text."), [(field, _("This must be text."))])
    if len(text) > longest:
        words = _("This is longer than %(limit)d characters.") % {"limit": longest}
        raise Invalid(words, [(field, words)])
    return clean(text).strip()
