"""The grants that a person may see, each with ``may_revoke``: those of a conversation, and their own."""

import uuid
from collections.abc import Iterable

from django.db.models import Count, F, QuerySet
from django.utils.translation import gettext as _

from agentweb.registry import catalog
from agentweb.runs.errors import NotFound
from agentweb.runs.grant_models import Grant
from agentweb.runs.models import Conversation
from agentweb.runs.selectors import conversation_for
from agentweb.teams.models import User

AT_MOST = 200


def grant_for(user: User, public_id: uuid.UUID | str) -> Grant:
    """Raises NotFound. Who sees the conversation in which it was given sees it."""
    found = _rows().filter(public_id=_uuid(public_id), run__conversation__deleted_at=None).first()
    if found is None:
        raise NotFound(_("There is no such grant, or it is not yours to see."))
    if found.given_by_id == user.pk:
        found.may_revoke = True  # what people agreed to they can always take back
    else:
        found.may_revoke = conversation_for(user, found.run.conversation.public_id).may.decide
    return found


def grants_in(user: User, conversation: Conversation) -> list[Grant]:
    """Those that were given in a conversation that ``conversation_for`` has let through, first those that stand."""
    found = list(_rows().filter(run__conversation=conversation)[:AT_MOST])
    for grant in found:
        grant.may_revoke = conversation.may.decide or grant.given_by_id == user.pk
    return _known(found)


def grants_by(user: User) -> list[Grant]:
    """Those that the person gave; those that stand come first, so that none of them is cut off."""
    found = list(_rows().filter(given_by=user, run__conversation__deleted_at=None)[:AT_MOST])
    for grant in found:
        grant.may_revoke = True
    return _known(found)


def _rows() -> QuerySet[Grant]:
    found = Grant.objects.select_related("given_by", "ended_by", "agent", "team", "run__conversation", "approval")
    return found.annotate(times=Count("uses")).order_by(F("ended_at").desc(nulls_first=True), "-pk")


def _known(rows: Iterable[Grant]) -> list[Grant]:
    """Each with ``changed``: its tool is another by now, so that it covers nothing, though no call has shown that."""
    rows = list(rows)
    code = catalog.find(row.tool for row in rows)
    for row in rows:
        row.changed = row.tool not in code or code[row.tool].spec.digest != row.tool_digest
    return rows


def _uuid(public_id: uuid.UUID | str) -> uuid.UUID:
    try:
        return uuid.UUID(str(public_id))
    except ValueError:
        return uuid.UUID(int=0)
