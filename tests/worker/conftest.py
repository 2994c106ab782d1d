import pytest

from tests.cast import Cast, make_cast
from tests.valkey import own_valkey, shared_valkey, valkey

__all__ = ["own_valkey", "shared_valkey", "valkey"]


@pytest.fixture
def cast(db) -> Cast:
    return make_cast()
