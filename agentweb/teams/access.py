"""What a person may do in a team, decided in one place."""

from django.db.models import QuerySet

from agentweb.teams.models import Membership, Role, Team, User


def role_in(*, user: User, team_id: int) -> str | None:
    """The person's role in the team, or None for a stranger."""
    return Membership.objects.filter(user=user, team_id=team_id).values_list("role", flat=True).first()


def teams_of(*, user: User, roles: tuple[Role, ...] = tuple(Role)) -> QuerySet[Team]:
    """The teams in which the person has one of the roles, oldest membership first."""
    return Team.objects.filter(memberships__user=user, memberships__role__in=roles).order_by("memberships__pk")


def default_team(*, user: User) -> Team | None:
    """Where a person's new conversation belongs when none is named: their oldest team in which they chat."""
    return teams_of(user=user, roles=(Role.MEMBER, Role.ADMIN)).first()
