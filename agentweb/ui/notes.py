"""What the system itself says to a model, in words for the people who watch."""

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from agentweb.engine.enums import NoteKind, Strategy

ICON = "info"
SENTENCES = {
    NoteKind.GOALS: _("Checks of the answer failed, so the agent was told which."),
    NoteKind.ALLOWED: _("A person let the agent go on, so it was told that it may."),
    NoteKind.CIRCLES: _("The agent repeated itself, so it was told to try another way."),
    NoteKind.FOLDED: _("Older messages were folded."),
    NoteKind.EXTENSION: _("The extension %(by)s had something to say to the agent."),
}


def sentence(about: str, by: str = "") -> str:
    """The plain words of a note that an extension, ``by``, may have wanted; empty for a kind that is not known here."""
    return str(SENTENCES[NoteKind(about)]) % {"by": by} if about in set(NoteKind) else ""


def folded(count: int, strategy: str) -> str:
    """What was done to older messages, so that the rest fits."""
    if strategy == Strategy.WINDOW:
        words = ngettext(
            "%(count)d older message is no longer sent to the model.",
            "%(count)d older messages are no longer sent to the model.",
            count,
        )
    else:
        words = ngettext(
            "%(count)d older message was summed up for the model.",
            "%(count)d older messages were summed up for the model.",
            count,
        )
    return words % {"count": count}
