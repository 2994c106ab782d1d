"""One site for all tests of this package. Each test says how many workers it wants, and leaves no run unfinished."""

from collections.abc import Callable, Iterator

import pytest
from django.core.management import call_command
from django.db import connection

from agentweb.runs.models import Run
from tests import databases
from tests.crash.reader import Reader
from tests.crash.site import Asked, Person, Site


@pytest.fixture(scope="package")
def running_site(tmp_path_factory, django_db_setup, django_db_blocker) -> Iterator[Site]:
    """The tests read the rows of the database on which the real processes work."""
    with django_db_blocker.unblock():
        if connection.introspection.table_names():  # other tests came before
            call_command("flush", verbosity=0, interactive=False)
        site = Site(tmp_path_factory.mktemp("site"), databases.address_of(connection.settings_dict))
        try:
            site.open()
            yield site
        finally:
            site.close()
            connection.close()


@pytest.fixture
def site(running_site: Site) -> Iterator[Site]:
    running_site.repair()
    yield running_site
    running_site.traces.withdraw()
    running_site.worker_env.clear()
    left = Run.objects.exclude(status=Run.Status.FINISHED).update(status=Run.Status.FINISHED, outcome="failed")
    assert not left, "the test has left runs that are not finished"


@pytest.fixture
def person(site: Site) -> Person:
    return site.person


@pytest.fixture
def reader(site: Site, person: Person) -> Iterator[Callable[[Asked], Reader]]:
    """Begins to follow a run."""
    readers: list[Reader] = []

    def follow(run: Asked) -> Reader:
        readers.append(Reader(lambda: site.client(person.token), run))
        return readers[-1]

    yield follow
    for one in readers:
        one.stop()
