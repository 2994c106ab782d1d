"""What a person may do in a team, decided in one place."""

from django.db.models import BigAutoField, QuerySet

from agentweb.teams import fixed
from agentweb.teams.models import Membership, Role, Team, User

_ROLE = fixed.Query(
    lambda user, team: Membership.objects.filter(user=user, team=team).values_list("role", flat=True),
    user=BigAutoField(),
    team=BigAutoField(),
)


def role_in(*, user: User, team_id: int) -> str | None:
    """The person's role in the team, or None for a stranger."""
    role: str | None = _ROLE.first(user=user.pk, team=team_id)
    return role


def teams_of(*, user: User, roles: tuple[Role, ...] = tuple(Role)) -> QuerySet[Team]:
    """The teams in which the person has one of the roles, oldest membership first."""
    return Team.objects.filter(memberships__user=user, memberships__role__in=roles).order_by("memberships__pk")


def default_team(*, user: User) -> Team | None:
    """Where a person's new conversation belongs when none is named: their oldest team in which they chat."""
    return teams_of(user=user, roles=(Role.MEMBER, Role.ADMIN)).first()
