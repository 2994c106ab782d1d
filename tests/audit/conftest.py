from collections.abc import Iterator

import pytest

from agentweb.worker.process import Process
from tests.cast import Cast, make_cast
from tests.valkey import own_valkey, shared_valkey, valkey

__all__ = ["own_valkey", "shared_valkey", "valkey"]


@pytest.fixture
def cast(db) -> Cast:
    return make_cast()


@pytest.fixture
def worked(transactional_db, valkey) -> Cast:
    """A cast whose runs a worker of this process may move, on rows that other threads see."""
    return make_cast()


@pytest.fixture
def process(worked, settings, tmp_path) -> Iterator[Process]:
    settings.WORKSPACES_DIR = tmp_path
    settings.DRAIN_SECONDS = 1
    started = Process()
    started.start()
    yield started
    started.stop()
