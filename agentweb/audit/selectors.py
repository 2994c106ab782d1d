"""The gate of the audit: reviewers and admins see every run of their teams, also of deleted conversations."""

import uuid

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from agentweb.runs.errors import NotFound
from agentweb.runs.looks import log_look
from agentweb.runs.models import Run
from agentweb.teams.access import teams_of
from agentweb.teams.models import Role, Team, User

AUDITS = (Role.REVIEWER, Role.ADMIN)


def may_audit(user: User) -> bool:
    return teams_of(user=user, roles=AUDITS).exists()


def teams_for(user: User) -> list[Team]:
    """The teams whose runs the person may read. Raises NotFound for those who audit none."""
    teams = list(teams_of(user=user, roles=AUDITS))
    if not teams:
        raise NotFound(_("There is no such page, or it is not yours to see."))
    return teams


def runs_of(teams: list[Team]) -> QuerySet[Run]:
    """Every run of the teams, newest first."""
    return (
        Run.objects.filter(conversation__team__in=teams)
        .select_related("conversation__team", "agent", "requested_by")
        .order_by("-pk")
    )


def run_for(user: User, public_id: uuid.UUID) -> Run:
    """The run, for those who audit its team. Raises NotFound. The look is recorded, for the owner to see."""
    found = (
        Run.objects.filter(conversation__team__in=teams_of(user=user, roles=AUDITS).order_by().values("pk"))
        .select_related("conversation__team", "conversation__owner", "agent", "requested_by", "snapshot")
        .filter(public_id=public_id)
        .first()
    )
    if found is None:
        raise NotFound(_("There is no such run, or it is not yours to see."))
    if found.conversation.owner_id != user.pk:
        log_look(user=user, conversation=found.conversation)
    return found
