"""The one door through which effects leave: browsers are told and jobs are started, both on commit only."""

import logging

from django.conf import settings
from django.db import transaction
from django.utils.module_loading import import_string
from kombu.exceptions import OperationalError

from agentweb.engine import events
from agentweb.engine.enums import ApprovalStatus, CallStatus
from agentweb.runs import live
from agentweb.runs.cards import Card, changed_cards, opened_message
from agentweb.runs.live import keys
from agentweb.runs.models import Conversation, Run, Visibility

ADVANCE = "runs.advance"
logger = logging.getLogger(__name__)


def enqueue(run: str) -> None:
    """Ask for a worker. The message is a hint: when the broker is down, the sweeper finds the row later."""
    transaction.on_commit(lambda: _send(run), robust=True)


def announce(row: Run, batch: events.Batch, last: int) -> None:
    """Tell whoever watches the conversation which events there are and which cards they changed."""
    run, conversation = str(row.public_id), str(row.conversation.public_id)
    status, epoch = str(row.status), row.epoch
    cards = changed_cards(run, batch)
    opened = opened_message(batch)
    closed = any(isinstance(event, events.MessageFinished | events.MessageInterrupted) for event in batch)
    kinds = [type(event).__name__ for event in batch]
    transaction.on_commit(
        lambda: live.publish_events(
            run=run,
            conversation=conversation,
            last=last,
            kinds=kinds,
            cards=cards,
            status=status,
            epoch=epoch,
            opened=opened,
            closed=closed,
        ),
        robust=True,
    )
    if any(map(_changes_inboxes, batch)):
        inbox_changed(row.conversation)


def _changes_inboxes(event: events.Event) -> bool:
    """A decision told of its own when it was made; the event only says that the run has taken it up."""
    ended = (ApprovalStatus.EXPIRED, ApprovalStatus.CANCELLED)
    if isinstance(event, events.ApprovalDecided | events.QuestionDecided):
        return event.status in ended
    if isinstance(event, events.ToolFinished):
        return event.status is CallStatus.CANCELLED
    asks = events.ApprovalRequested | events.QuestionAsked | events.ToolSuspended | events.OutcomeUnknown
    return isinstance(event, asks)


def inbox_changed(conversation: Conversation) -> None:
    """Tell those who may decide about the conversation's calls that what waits for them has changed."""
    groups = groups_of(conversation)
    transaction.on_commit(lambda: live.publish_hint(groups), robust=True)


def groups_of(conversation: Conversation) -> list[str]:
    """Whoever sees the conversation, since a rule may name any of them."""
    reviewers = keys.reviewers_group(conversation.team_id)
    if conversation.visibility == Visibility.TEAM:
        return [keys.team_group(conversation.team_id), reviewers]
    return [keys.person_group(conversation.owner_id), keys.admins_group(conversation.team_id), reviewers]


def touch(row: Run, cards: list[Card] | None = None) -> None:
    """Tell whoever watches that something changed which is no event yet: a decision, a queued message, a request."""
    run, conversation = str(row.public_id), str(row.conversation.public_id)
    changed = [*(cards or []), ("run", run)]
    transaction.on_commit(lambda: live.publish_touch(run=run, conversation=conversation, cards=changed), robust=True)


def send_on_commit(task: str, about: int | str) -> None:
    """Ask a worker for other work about the row ``about``, on commit; it is a hint like any message."""
    transaction.on_commit(lambda: send(task, about), robust=True)


def send(task: str, about: int | str, wait_s: float = 0) -> None:
    """The message itself, to be looked at after ``wait_s`` at the earliest."""
    if not settings.REDIS_URL:
        return  # nobody has named a broker; the sweep of a worker finds the row
    try:
        import_string(settings.CELERY_APP).hint(task, about, wait_s)
    except (OperationalError, OSError) as error:
        logger.warning("The broker did not take %s of %s (%s); it stays queued.", task, about, type(error).__name__)


def _send(run: str) -> None:
    send(ADVANCE, run)
