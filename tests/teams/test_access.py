"""Roles: what a person is in which team."""

import pytest

from agentweb.teams.access import default_team, role_in, teams_of
from agentweb.teams.models import Membership, Role, Team


@pytest.mark.parametrize(
    ("who", "role"),
    [("owner", "member"), ("member", "member"), ("admin", "admin"), ("reviewer", "reviewer"), ("stranger", None)],
)
def test_a_role_is_that_of_the_membership(cast, who, role):
    assert role_in(user=cast.person(who), team_id=cast.team.pk) == role


def test_new_conversations_belong_to_the_oldest_team_in_which_the_person_chats(cast):
    later = Team.objects.create(name="Aardvarks, first in the alphabet")
    Membership.objects.create(team=later, user=cast.owner, role=Role.ADMIN)
    assert default_team(user=cast.owner) == cast.team
    Membership.objects.filter(team=cast.team, user=cast.owner).update(role=Role.REVIEWER)
    assert default_team(user=cast.owner) == later


def test_who_only_reviews_has_no_team_to_chat_in(cast):
    assert default_team(user=cast.reviewer) is None
    assert list(teams_of(user=cast.reviewer)) == [cast.team]
