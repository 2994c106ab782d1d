import pytest

from tests.cast import Cast, make_cast


@pytest.fixture
def cast(db) -> Cast:
    return make_cast()


@pytest.fixture
def site(cast, client):
    """The admin, with its superuser signed in."""
    client.force_login(cast.admin)
    return client
