"""Where parts of a conversation are, however long it is."""

from django.urls import reverse

from agentweb.runs.models import Conversation


def place(conversation: Conversation, anchor: str = "") -> str:
    """The address of the conversation, or of a part of it that may stand further up than its page begins.

    ``anchor`` names the part as the page does: ``message-…``, ``call-…``, ``question-…`` or ``run-…``.
    """
    address = reverse("conversation", args=[conversation.public_id])
    return f"{address}?at={anchor}#{anchor}" if anchor else address
