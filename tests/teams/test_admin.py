"""People, teams and tokens in the admin."""

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from agentweb.teams import tokens
from agentweb.teams.models import ApiToken, Membership, Team, User
from tests.inline import inline_code


@pytest.fixture
def site(cast, client):
    client.force_login(cast.admin)
    return client


def page(name: str, *ids) -> str:
    return reverse(f"admin:teams_{name}", args=ids)


# --- signing in -----------------------------------------------------------------------------------------------------


def test_signing_in_to_the_admin_happens_on_the_page_of_the_site(client, db):
    response = client.get(reverse("admin:login") + "?next=/admin/runs/", follow=False)
    assert response.status_code == 302
    assert response.url.startswith(reverse("account_login"))


def test_no_password_is_taken_by_the_admin_itself(client, cast):
    cast.admin.set_password("correct horse battery")
    cast.admin.save()
    sent = {"username": "admin", "password": "correct horse battery"}
    response = client.post(reverse("admin:login"), sent)
    assert response.url.startswith(reverse("account_login"))
    assert client.get(reverse("admin:index")).status_code == 302


def test_wrong_passwords_are_counted_on_the_way_to_the_admin_too(client, cast):
    cast.admin.set_password("correct horse battery")
    cast.admin.save()
    address = reverse("account_login") + "?next=/admin/"
    for _ in range(6):
        client.post(address, {"login": "admin", "password": "wrong"})
    response = client.post(address, {"login": "admin", "password": "correct horse battery"})
    assert response.status_code != 302
    assert client.get(reverse("admin:index")).status_code == 302


def test_who_is_no_staff_is_turned_away(client, cast):
    client.force_login(cast.member)
    assert client.get(reverse("admin:login")).status_code == 403


# --- people ---------------------------------------------------------------------------------------------------------


PERSON = {"username": "newcomer", "password1": "a long new word 7", "password2": "a long new word 7"}


def test_a_person_is_made_with_a_password_and_then_put_into_a_team(site, cast):
    assert site.post(page("user_add"), PERSON | {"usable_password": "true"}).status_code == 302
    person = User.objects.get(username="newcomer")
    assert person.check_password("a long new word 7")
    sent = {"username": "newcomer", "is_active": "on", "date_joined_0": "2030-01-02", "date_joined_1": "03:04:05"}
    sent |= {"memberships-TOTAL_FORMS": 1, "memberships-INITIAL_FORMS": 0}
    sent |= {"memberships-0-team": cast.team.pk, "memberships-0-role": "reviewer"}
    assert site.post(page("user_change", person.pk), sent).status_code == 302
    assert Membership.objects.get(user=person).role == "reviewer"


@pytest.mark.parametrize(
    ("field", "value"),
    [("username", "owner"), ("username", "two words"), ("password2", "another one 8"), ("username", "")],
)
def test_a_bad_person_is_refused_with_the_field_named(site, field, value):
    response = site.post(page("user_add"), PERSON | {"usable_password": "true", field: value})
    assert list(response.context["adminform"].form.errors) == [field]


# --- teams ----------------------------------------------------------------------------------------------------------


def team_form(**changes) -> dict:
    return {"name": "Blue", "memberships-TOTAL_FORMS": 1, "memberships-INITIAL_FORMS": 0, **changes}


def test_a_team_is_made_with_its_people(site, cast):
    sent = team_form(**{"memberships-0-user": cast.stranger.pk, "memberships-0-role": "admin"})
    assert site.post(page("team_add"), sent).status_code == 302
    assert Membership.objects.get(team__name="Blue").user == cast.stranger


@pytest.mark.parametrize(("field", "value"), [("role", "king"), ("user", "999999"), ("user", "")])
def test_a_bad_membership_is_refused_with_the_field_named(site, cast, field, value):
    given = {"memberships-0-user": cast.stranger.pk, "memberships-0-role": "admin", f"memberships-0-{field}": value}
    response = site.post(page("team_add"), team_form(**given))
    found = response.context["inline_admin_formsets"][0].formset.errors
    assert [list(errors) for errors in found if errors] == [[field]]
    assert not Team.objects.filter(name="Blue").exists()


def test_a_person_is_in_a_team_only_once(site, cast):
    given = {"name": cast.team.name, "memberships-0-user": cast.member.pk, "memberships-0-role": "admin"}
    response = site.post(page("team_change", cast.team.pk), team_form(**given))
    found = response.context["inline_admin_formsets"][0].formset.errors
    assert found == [{"user": ["This person is in this team already."]}]
    assert Membership.objects.get(team=cast.team, user=cast.member).role == "member"


# --- tokens ---------------------------------------------------------------------------------------------------------


def shown_token(response) -> str:
    html = response.content.decode()
    return html.split('id="issued-token">')[1].split("<")[0]


def test_a_new_token_is_shown_once_and_works(site, cast):
    response = site.post(page("apitoken_add"), {"user": cast.owner.pk, "name": "laptop"})
    token = shown_token(response)
    assert tokens.user_of(token) == cast.owner
    assert "no-store" in response["Cache-Control"]
    assert inline_code(response.content.decode()) == []
    row = ApiToken.objects.get()
    for address in (page("apitoken_changelist"), page("apitoken_change", row.pk), page("apitoken_history", row.pk)):
        html = site.get(address).content.decode()
        assert token not in html
        assert row.digest not in html


@pytest.mark.parametrize(("field", "value"), [("name", ""), ("name", "n" * 101), ("user", ""), ("user", "999999")])
def test_a_bad_token_is_refused_with_the_field_named(site, cast, field, value):
    response = site.post(page("apitoken_add"), {"user": cast.owner.pk, "name": "laptop", field: value})
    assert list(response.context["adminform"].form.errors) == [field]
    assert not ApiToken.objects.exists()


def test_selected_tokens_are_revoked_at_once(site, cast):
    token = tokens.create_token(user=cast.owner, name="laptop")
    row = ApiToken.objects.get()
    response = site.post(page("apitoken_changelist"), {"action": "revoke", "_selected_action": [row.pk]}, follow=True)
    assert "1 token is revoked." in response.content.decode()
    assert tokens.user_of(token) is None
    assert "Revoked." in site.get(page("apitoken_history", row.pk)).content.decode()


def test_a_token_cannot_be_changed(site, cast):
    tokens.create_token(user=cast.owner, name="laptop")
    row = ApiToken.objects.get()
    assert site.post(page("apitoken_change", row.pk), {"name": "x", "user": cast.admin.pk}).status_code == 403
    row.refresh_from_db()
    assert (row.name, row.user) == ("laptop", cast.owner)


# --- who changed what ---------------------------------------------------------------------------------------------


def test_changes_are_listed_with_who_made_them_and_stay_as_they_are(site, cast):
    site.post(page("team_change", cast.team.pk), team_form(**{"name": "Renamed", "memberships-TOTAL_FORMS": 0}))
    entry, changes = LogEntry.objects.get(), reverse("admin:admin_logentry_changelist")
    listed = site.get(changes, {"q": "Renamed"})
    assert [row.pk for row in listed.context["cl"].result_list] == [entry.pk]
    assert "Changed Name." in listed.content.decode() and inline_code(listed.content.decode()) == []
    assert site.get(changes, {"q": "nothing like this"}).context["cl"].result_count == 0
    site.post(changes, {"action": "delete_selected", "_selected_action": [entry.pk], "post": "yes"})
    assert site.post(reverse("admin:admin_logentry_change", args=[entry.pk]), {}).status_code == 403
    assert LogEntry.objects.get().change_message == entry.change_message


# --- every page -----------------------------------------------------------------------------------------------------


def test_no_page_has_code_in_it(site, cast):
    tokens.create_token(user=cast.owner, name="laptop")
    rows = {"user": User, "team": Team, "apitoken": ApiToken}
    addresses = [page(f"{name}_{kind}") for name in rows for kind in ("changelist", "add")]
    addresses += [page(f"{name}_change", model.objects.first().pk) for name, model in rows.items()]
    addresses += [
        reverse("admin:index"),
        reverse("admin:password_change"),
        reverse("admin:auth_user_password_change", args=[cast.owner.pk]),
    ]
    for address in addresses:
        response = site.get(address)
        assert response.status_code == 200, address
        assert inline_code(response.content.decode()) == [], address


@pytest.mark.parametrize("name", ["user", "team", "apitoken"])
def test_a_longer_list_takes_no_more_queries(site, cast, name):
    def more(count: int) -> None:
        for n in range(count):
            person = User.objects.create(username=f"person-{n}-{count}")
            Membership.objects.create(team=Team.objects.create(name=f"Team {n} of {count}"), user=person)
            tokens.create_token(user=person, name="x")

    more(1)
    site.get(page(f"{name}_changelist"))
    with CaptureQueriesContext(connection) as few:
        site.get(page(f"{name}_changelist"))
    more(8)
    with CaptureQueriesContext(connection) as many:
        site.get(page(f"{name}_changelist"))
    assert len(many) == len(few)
