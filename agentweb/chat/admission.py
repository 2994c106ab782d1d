"""Whether a socket may stay: who its session belongs to now, and whether that person may see the conversation."""

import hashlib
from contextlib import suppress
from enum import IntEnum
from importlib import import_module
from typing import Any
from uuid import UUID

from asgiref.sync import async_to_sync
from channels.auth import get_user
from channels.db import database_sync_to_async
from channels.layers import get_channel_layer
from django.conf import settings
from django.contrib.auth.signals import user_logged_out
from django.dispatch import receiver
from redis.exceptions import RedisError

from agentweb.runs import selectors
from agentweb.runs.errors import NotFound
from agentweb.runs.live import keys
from agentweb.runs.models import Run
from agentweb.runs.rights import CHATS
from agentweb.teams.models import Membership, Role, User

store_class = import_module(settings.SESSION_ENGINE).SessionStore


class Refusal(IntEnum):
    """Close codes that tell the page to stop; after every other code it connects again."""

    SIGNED_OUT = 4401
    FORBIDDEN = 4403
    GONE = 4404


@database_sync_to_async
def groups_of(user: User) -> list[str]:
    """The channel groups in which the person's sockets hear of approvals that they may decide."""
    groups = [keys.person_group(user.pk)]
    for team, role in Membership.objects.filter(user=user).values_list("team_id", "role"):
        groups.append(keys.team_group(team) if role in CHATS else keys.reviewers_group(team))
        if role == Role.ADMIN:
            groups.append(keys.admins_group(team))
    return groups


async def person(session_key: str | None) -> User | None:
    """Who is signed in with the session, read anew."""
    user = await get_user({"session": store_class(session_key)})
    return user if user.is_authenticated and user.is_active else None


@database_sync_to_async
def refusal(user: User, conversation: UUID, run: str) -> Refusal | None:
    """Why the person may not follow the conversation. ``run`` must be one of its runs, or ""."""
    try:
        found = selectors.conversation_for(user, conversation)
    except NotFound:
        return Refusal.GONE
    if run and not Run.objects.filter(conversation=found, public_id=run).exists():
        return Refusal.GONE
    return None


def fingerprint(session_key: str | None) -> str:
    """Names a session in a message without giving it away."""
    return hashlib.sha256((session_key or "").encode()).hexdigest()


@receiver(user_logged_out)
def close_sockets(sender: Any, request: Any, user: User | None, **_: Any) -> None:
    """The sockets of a session end with it."""
    layer, session = get_channel_layer(), getattr(request, "session", None)
    if user is None or session is None or layer is None:
        return
    message = {"type": "signed.out", "session": fingerprint(session.session_key)}
    with suppress(RedisError, OSError):  # the sockets look at their session themselves before long
        async_to_sync(layer.group_send)(keys.person_group(user.pk), message)
