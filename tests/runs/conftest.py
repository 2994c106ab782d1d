import pytest

from tests.cast import Cast, make_cast, make_worker


@pytest.fixture
def cast(db) -> Cast:
    return make_cast()


@pytest.fixture
def worker(db):
    return make_worker()
