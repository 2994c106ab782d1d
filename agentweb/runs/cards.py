"""Which parts of a page an event changes."""

from collections.abc import Iterable

from agentweb.engine import events
from agentweb.runs.models import Approval

Card = tuple[str, str]


def changed_cards(run: str, batch: Iterable[events.Event]) -> list[Card]:
    """The cards that the events changed, in the order in which they first appear on the page."""
    cards: dict[Card, None] = {}
    for event in batch:
        match event:
            case (
                events.NoteAdded(message=message)
                | events.ContextFolded(message=message)
                | events.ModelRequested(message=message)
                | events.MessageInterrupted(message=message)
            ):
                cards[("message", message)] = None
            case events.MessageFinished(message=message):
                cards[("message", message.id)] = None
                cards.update(dict.fromkeys(("call", call.id) for call in message.calls))
            case events.SteeringTaken(messages=messages) | events.FollowUpTaken(messages=messages):
                cards.update(dict.fromkeys(("message", message.id) for message in messages))
            case (
                events.ToolStarted(call=call)
                | events.ToolFinished(call=call)
                | events.ToolSuspended(call=call)
                | events.ToolReplaced(call=call)
                | events.OutcomeUnknown(call=call)
                | events.OutcomeSettled(call=call)
                | events.ResultReceived(call=call)
                | events.ArgumentsRewritten(call=call)
                | events.ApprovalRequested(call=call)
                | events.ApprovalDecided(call=call)
                | events.PreviewRenewed(call=call)
            ):
                cards[("call", call)] = None
            case events.QuestionAsked(approval=approval) | events.QuestionDecided(approval=approval):
                cards[("question", approval)] = None
            case _:
                pass
    cards[("run", run)] = None
    return list(cards)


def card_of(approval: Approval) -> Card:
    """The card on which people decide: that of the call, or the question's own."""
    return ("call", str(approval.call.public_id)) if approval.call else ("question", str(approval.public_id))


def opened_message(batch: Iterable[events.Event]) -> str:
    """The message that is being written after these events, or "" when none is."""
    opened = ""
    for event in batch:
        match event:
            case events.ModelRequested(message=message):
                opened = message
            case events.MessageFinished() | events.MessageInterrupted():
                opened = ""
            case _:
                pass
    return opened
