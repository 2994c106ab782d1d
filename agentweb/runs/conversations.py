"""What those who manage a conversation do with it: name, share, archive, delete."""

from django.utils import timezone

from agentweb.runs.models import Conversation, Run
from agentweb.runs.services import cancel_run, needs, title_of, visibility_of
from agentweb.teams.models import User


def rename_conversation(*, user: User, conversation: Conversation, title: str) -> None:
    needs(conversation.may.manage)
    Conversation.objects.filter(pk=conversation.pk).update(title=title_of(title))


def share_conversation(*, user: User, conversation: Conversation, visibility: str) -> None:
    """Show the conversation to the team, or to its owner alone."""
    needs(conversation.may.manage)
    Conversation.objects.filter(pk=conversation.pk).update(visibility=visibility_of(visibility))


def archive_conversation(*, user: User, conversation: Conversation, archived: bool) -> None:
    """Put the conversation out of the lists, or back; the next message brings it back, too."""
    needs(conversation.may.manage)
    Conversation.objects.filter(pk=conversation.pk).update(archived_at=timezone.now() if archived else None)


def delete_conversation(*, user: User, conversation: Conversation) -> None:
    """Take the conversation from everyone's sight; a live run of it is cancelled. Its record stays."""
    needs(conversation.may.manage)
    # The row first: a run that begins in this moment is seen below, or does not begin any more.
    Conversation.objects.filter(pk=conversation.pk, deleted_at=None).update(deleted_at=timezone.now())
    live_run = conversation.runs.exclude(status=Run.Status.FINISHED).first()
    if live_run is not None:
        live_run.conversation = conversation
        cancel_run(user=user, run=live_run)
