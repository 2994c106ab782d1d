"""Who a request comes from, for as long as the session and the person last."""

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from tests.cast import Cast, make_cast


@pytest.fixture
def cast(db) -> Cast:
    return make_cast()


def signed_in(client: Client) -> bool:
    return client.get("/").status_code == 200


def test_a_person_is_known_by_the_session_until_it_ends(cast):
    client = Client()
    client.force_login(cast.owner)
    assert signed_in(client)
    Session.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert not signed_in(client)


def test_a_person_who_was_made_inactive_is_out_at_once_and_one_who_was_removed_too(cast):
    client, other = Client(), Client()
    client.force_login(cast.owner)
    other.force_login(cast.stranger)
    assert signed_in(client) and signed_in(other)
    type(cast.owner).objects.filter(pk=cast.owner.pk).update(is_active=False)
    cast.stranger.delete()
    assert not signed_in(client) and not signed_in(other)


@pytest.mark.parametrize("key", ["x" * 32, "'; --------", "short", "\x00" * 12, ""])
def test_a_session_that_nobody_began_is_nobodys(cast, key):
    client = Client()
    client.cookies["sessionid"] = key
    assert not signed_in(client)
