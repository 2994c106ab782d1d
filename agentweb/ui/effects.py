"""What a preview says a call would do, in the viewer's language.

Tools know no language, so their previews are recorded in English. The forms of the built-in tools are known here;
anything else is shown as it was recorded.
"""

import re

from django.utils.translation import gettext, gettext_noop, ngettext

from agentweb.engine.sentences import NO_PREVIEW

_LINES = r"(?P<lines>[\d,]+ lines?)"
_FORMS = (
    (re.compile(rf"Creates (?P<path>.+) \({_LINES}\)"), gettext_noop("Creates %(path)s (%(lines)s)")),
    (re.compile(r"Leaves (?P<path>.+) as it is"), gettext_noop("Leaves %(path)s as it is")),
    (re.compile(rf"Empties (?P<path>.+) \({_LINES}\)"), gettext_noop("Empties %(path)s (%(lines)s)")),
    (re.compile(rf"Changes {_LINES} of (?P<path>.+)"), gettext_noop("Changes %(lines)s of %(path)s")),
    (
        re.compile(rf"Replaces (?P<path>.+) \((?P<size>[\d.]+ \w+), not text\) by {_LINES}"),
        gettext_noop("Replaces %(path)s (%(size)s, not text) by %(lines)s"),
    ),
    (re.compile(r"Deletes (?P<path>.+) \((?P<size>[\d.]+ \w+)\)"), gettext_noop("Deletes %(path)s (%(size)s)")),
    (re.compile(r"Sends a mail to (?P<people>.+)"), gettext_noop("Sends a mail to %(people)s")),
    (re.compile(re.escape(NO_PREVIEW)), gettext_noop("What this call would do could not be worked out beforehand.")),
    (re.compile(r"This would fail: (?P<error>.+)", re.DOTALL), gettext_noop("This would fail: %(error)s")),
)


def effect_text(recorded: str) -> str:
    """The effect as the viewer reads it; a text of unknown form stays as it is."""
    for form, words in _FORMS:
        if found := form.fullmatch(recorded):
            parts = found.groupdict()
            if "lines" in parts:
                parts["lines"] = _lines(parts["lines"])
            return gettext(words) % parts
    return recorded


def _lines(text: str) -> str:
    number = text.split(" ")[0]
    return ngettext("%(count)s line", "%(count)s lines", int(number.replace(",", ""))) % {"count": number}
