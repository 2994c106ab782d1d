"""API tokens: shown once, found by their digest, useless once revoked."""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.utils import timezone

from agentweb.teams import tokens
from agentweb.teams.models import ApiToken


def test_a_token_stands_for_its_person(cast):
    token = tokens.create_token(user=cast.owner, name="laptop")
    assert tokens.user_of(token) == cast.owner


def test_the_token_itself_is_stored_nowhere(cast):
    token = tokens.create_token(user=cast.owner, name="laptop")
    row = ApiToken.objects.get()
    assert token not in [str(value) for value in vars(row).values()]
    assert token.endswith(row.hint)
    assert len(row.hint) == 4


def test_two_tokens_of_one_person_differ_and_both_work(cast):
    one, two = (tokens.create_token(user=cast.owner, name="same") for _ in range(2))
    assert one != two
    assert tokens.user_of(one) == tokens.user_of(two) == cast.owner


@pytest.mark.parametrize("given", ["", "aw_", "aw_wrong", "x" * 10_000, "aw_\ud800", "aw_\x00", "键"])
def test_other_words_stand_for_nobody(cast, given):
    tokens.create_token(user=cast.owner, name="laptop")
    assert tokens.user_of(given) is None


def test_a_revoked_token_stands_for_nobody_and_keeps_the_time_of_its_end(cast):
    token = tokens.create_token(user=cast.owner, name="laptop")
    other = tokens.create_token(user=cast.owner, name="phone")
    assert tokens.revoke(ApiToken.objects.filter(name="laptop")) == 1
    assert tokens.user_of(token) is None
    assert tokens.user_of(other) == cast.owner
    ended = ApiToken.objects.get(name="laptop").revoked_at
    assert tokens.revoke(ApiToken.objects.filter(name="laptop")) == 0
    assert ApiToken.objects.get(name="laptop").revoked_at == ended


def test_the_token_of_a_person_who_is_switched_off_stands_for_nobody(cast):
    token = tokens.create_token(user=cast.owner, name="laptop")
    cast.owner.is_active = False
    cast.owner.save()
    assert tokens.user_of(token) is None


def test_the_last_use_is_noted_once_a_minute(cast):
    token = tokens.create_token(user=cast.owner, name="laptop")
    tokens.user_of(token)
    first = ApiToken.objects.get().used_at
    tokens.user_of(token)
    assert ApiToken.objects.get().used_at == first
    ApiToken.objects.update(used_at=timezone.now() - timedelta(minutes=2))
    tokens.user_of(token)
    assert ApiToken.objects.get().used_at >= first


def test_the_command_prints_a_token_that_works(cast):
    out = StringIO()
    call_command("create_token", "owner", name="script", stdout=out)
    assert tokens.user_of(out.getvalue().strip()) == cast.owner
    assert ApiToken.objects.get().name == "script"


@pytest.mark.parametrize("user", ["nobody", "", "member"])
def test_the_command_names_a_user_that_it_does_not_know(cast, user):
    cast.member.is_active = False
    cast.member.save()
    err = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("create_token", user, stderr=err)
    assert ended.value.code == 2
    assert f"There is no active user named {user!r}." in err.getvalue()
    assert not ApiToken.objects.exists()
