"""Statements that are written once say the same as those that Django writes each time."""

import threading
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, transaction
from django.db.models import BigAutoField, CharField, Count, DateTimeField, UUIDField
from django.test.utils import CaptureQueriesContext

from agentweb.teams import fixed
from agentweb.teams.models import ApiToken, Membership, Role, Team, User

pytestmark = pytest.mark.django_db


@pytest.fixture
def ann() -> User:
    return User.objects.create(username="ann", first_name="Ann")


@pytest.fixture
def team(ann: User) -> Team:
    team = Team.objects.create(name="Quartet")
    Membership.objects.create(team=team, user=ann, role=Role.ADMIN)
    return team


def members() -> fixed.Query:
    return fixed.Query(
        lambda team, role: Membership.objects.select_related("user").filter(team=team, role=role).order_by("pk"),
        team=BigAutoField(),
        role=CharField(),
    )


def tokens() -> fixed.Update:
    return fixed.Update(lambda name: ApiToken.objects.filter(name=name, revoked_at=None), name=CharField())


def test_a_query_gives_rows_with_what_belongs_to_them(ann, team):
    other = Membership.objects.create(team=team, user=User.objects.create(username="bob"), role=Role.ADMIN)
    query = members()

    for _ in range(2):  # written, then used again
        assert [row.user.username for row in query.all(team=team.pk, role=Role.ADMIN)] == ["ann", "bob"]
    assert query.first(team=team.pk, role=Role.MEMBER) is None
    other.delete()
    assert [row.user for row in query.all(team=team.pk, role=Role.ADMIN)] == [ann]


def test_a_query_gives_values_and_tuples_too(ann, team):
    names = fixed.Query(lambda pk: User.objects.filter(pk=pk).values_list("username", flat=True), pk=BigAutoField())
    pairs = fixed.Query(
        lambda name: Team.objects.filter(name=name).values_list("public_id", "created_at"), name=CharField()
    )

    assert names.all(pk=ann.pk) == ["ann"]
    assert pairs.all(name="Quartet") == [(team.public_id, team.created_at)]


def test_a_query_gives_rows_with_what_was_counted_for_them(ann, team):
    counted = fixed.Query(
        lambda pk: User.objects.annotate(teams=Count("memberships")).filter(pk=pk).only("username"), pk=BigAutoField()
    )

    found = counted.first(pk=ann.pk)

    assert (found.username, found.teams) == ("ann", 1)
    assert found.first_name == "Ann"  # looked up now, as nobody had asked for it


def test_a_query_of_another_form_is_refused(ann):
    with pytest.raises(TypeError, match="ValuesIterable"):
        fixed.Query(lambda pk: User.objects.filter(pk=pk).values("username"), pk=BigAutoField()).all(pk=ann.pk)


@pytest.mark.parametrize(
    ("build", "field", "value"),
    [
        (lambda value: Team.objects.filter(public_id=value), UUIDField(), lambda team: team.public_id),
        (lambda value: Team.objects.filter(created_at__gte=value), DateTimeField(), lambda team: team.created_at),
        (lambda value: Team.objects.filter(name__startswith=value), CharField(), lambda team: "Qu"),
    ],
    ids=["uuid", "moment", "text"],
)
def test_values_are_written_as_the_database_has_them(team, build, field, value):
    assert fixed.Query(build, value=field).all(value=value(team)) == [team]


def test_every_use_is_one_statement_of_its_own_threads_connection(team):
    query, seen = members(), []

    def look() -> None:
        seen.append(query.all(team=team.pk, role=Role.ADMIN))
        connection.close()

    with CaptureQueriesContext(connection) as asked:
        query.all(team=team.pk, role=Role.ADMIN)
    thread = threading.Thread(target=look)
    thread.start()
    thread.join()

    assert len(asked) == 1
    assert seen == [[]]  # nobody else sees what is not committed here


def test_an_update_changes_what_it_finds_and_counts_it(ann):
    used = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    for digest in ("1", "2"):
        ApiToken.objects.create(user=ann, name="bot", digest=digest)
    update = tokens()

    assert update({"used_at": used, "hint": "%s"}, name="bot") == 2
    assert update({"used_at": used + timedelta(days=1)}, name="nobody") == 0
    assert set(ApiToken.objects.values_list("used_at", "hint")) == {(used, "%s")}
    assert update({"hint": "none", "user": ann.pk}, name="bot") == 2
    assert set(ApiToken.objects.values_list("hint", flat=True)) == {"none"}


def test_an_insert_is_what_save_would_have_stored(ann):
    given = {"name": "a 'name'", "user": ann}
    row, saved = ApiToken(digest="1", **given), ApiToken(digest="2", **given)

    fixed.insert(row)
    saved.save(force_insert=True)

    assert row.pk is not None and not row._state.adding
    names = [field.attname for field in ApiToken._meta.fields if field.attname not in ("id", "digest", "created_at")]
    first, second = (ApiToken.objects.filter(digest=digest).values(*names).get() for digest in "12")
    assert first == second
    assert ApiToken.objects.get(pk=row.pk).created_at == row.created_at
    row.name = "changed"
    row.save()
    assert ApiToken.objects.get(digest="1").name == "changed"


def test_many_rows_are_inserted_at_once(ann):
    fixed.insert_all([])
    fixed.insert_all([ApiToken(user=ann, name=f"bot {digest}", digest=digest) for digest in "123"])

    assert list(ApiToken.objects.order_by("digest").values_list("name", flat=True)) == ["bot 1", "bot 2", "bot 3"]


def test_an_insert_keeps_the_rules_of_the_database(ann):
    fixed.insert(ApiToken(user=ann, name="bot", digest="1"))

    with pytest.raises(IntegrityError), transaction.atomic():
        fixed.insert(ApiToken(user=ann, name="bot", digest="1"))
    fixed.insert(Team(public_id=uuid4(), name="Other"))
    assert Team.objects.filter(name="Other").exists()
