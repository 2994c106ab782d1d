"""Replies that do not keep to the form of their protocol: each is a call that can never run and says what is wrong."""

from collections.abc import Callable

from agentweb.engine.enums import Invalid
from agentweb.engine.messages import ToolCall
from agentweb.schema.text import clean

UNREADABLE = "unreadable_reply"  # stands for the name of the tool in a reply that names none
MOST_KEPT = 4_000  # characters of such a reply
MOST_REPORTED = 2_000  # characters of what a model invented that are kept


def refused(new_id: Callable[[], str], name: str, raw: str, detail: str) -> ToolCall:
    """``raw`` is what the model wrote in place of arguments, or its whole reply where no tool is named."""
    return ToolCall(
        new_id(), name or UNREADABLE, None, clean(raw[:MOST_KEPT]), invalid=Invalid.FORM, detail=clean(detail)
    )
