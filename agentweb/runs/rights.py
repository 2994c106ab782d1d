"""What one person may do with one conversation, by their role in its team and whose it is."""

from dataclasses import dataclass

from agentweb.runs.models import Conversation, Visibility
from agentweb.teams.models import Role, User

CHATS = (Role.MEMBER, Role.ADMIN)


@dataclass(frozen=True, slots=True)
class Rights:
    """What one person may do with one conversation. ``oversight``: they see it only by their office."""

    write: bool = False
    cancel: bool = False
    manage: bool = False
    decide: bool = False
    oversight: bool = False
    admin: bool = False
    role: str = ""


def rights(*, user: User, conversation: Conversation, role: str | None) -> Rights | None:
    """None when the person may not even see it. A person who left the team sees nothing of it any more."""
    if role is None:
        return None
    owner = conversation.owner_id == user.pk
    admin = role == Role.ADMIN
    write = role in CHATS and (owner or conversation.visibility == Visibility.TEAM)
    if not (write or owner or admin or role == Role.REVIEWER):
        return None
    manage = (owner and role in CHATS) or admin
    oversight = not (write or owner)
    return Rights(write, manage, manage, decide=write or admin, oversight=oversight, admin=admin, role=role)
