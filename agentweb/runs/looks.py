"""The record of looks at conversations by those who see them only by their office."""

from datetime import timedelta

from django.db.models import Max, QuerySet
from django.utils import timezone

from agentweb.runs.models import AccessLog, Conversation
from agentweb.teams.models import User

RESOLUTION = timedelta(minutes=5)  # a page fetches many parts: that is one look


def log_look(*, user: User, conversation: Conversation) -> None:
    recent = timezone.now() - RESOLUTION
    if not AccessLog.objects.filter(conversation=conversation, user=user, at__gt=recent).exists():
        AccessLog.objects.create(conversation=conversation, user=user)


def latest_looks(conversation: Conversation, limit: int = 5) -> QuerySet[User]:
    """Who looked, the last ones first, each once with the time as ``looked_at``."""
    people = User.objects.filter(looks__conversation=conversation)
    return people.annotate(looked_at=Max("looks__at")).order_by("-looked_at")[:limit]
