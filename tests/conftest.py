"""What every test shares: a data folder that is thrown away, and the database of this run.

Django is set up only when a test of a package that knows it may be collected: the core is tested without it.
"""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests import databases

HERE = Path(__file__).resolve().parent
WITHOUT_DJANGO = {HERE / name for name in ("engine", "schema", "llm", "toolbox", "render", "policy", "launch")}
DATABASE_FIXTURES = {"db", "transactional_db", "django_db_setup", "live_database"}

_until_the_end = ExitStack()

# The same examples on every machine, so that a failure is one of the change at hand; HYPOTHESIS_PROFILE=thorough looks
# further. The time of one example tells only how busy the machine is.
settings.register_profile(
    "repeatable", derandomize=True, max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.register_profile(
    "thorough", max_examples=2_000, deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """Called as soon as this file is read, thus before the `conftest.py` of any package imports its models."""
    parser.addoption("--only-database", action="store_true", help="leave out tests that do not touch the database")
    config = pluginmanager.get_plugin("pytestconfig")
    paths = config.known_args_namespace.file_or_dir or [str(HERE)]
    if not all(_is_core(config.invocation_params.dir / path.partition("::")[0]) for path in paths):
        _choose_settings()


def pytest_unconfigure() -> None:
    _until_the_end.close()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if not config.getoption("--only-database"):
        return
    others = [item for item in items if not _touches_database(item)]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if _touches_database(item)]


def _is_core(path: Path) -> bool:
    return any(path.resolve().is_relative_to(folder) for folder in WITHOUT_DJANGO)


def _touches_database(item: pytest.Item) -> bool:
    fixtures = set(getattr(item, "fixturenames", ()))
    return item.get_closest_marker("django_db") is not None or not fixtures.isdisjoint(DATABASE_FIXTURES)


def _choose_settings() -> None:
    """Point the settings at a new data folder and at the chosen database. Before anything imports the settings."""
    folder = Path(_until_the_end.enter_context(tempfile.TemporaryDirectory(prefix="agentweb-tests-")))
    os.environ |= {
        "DJANGO_SETTINGS_MODULE": "agentweb.config.settings",
        "DATA_DIR": str(folder),
        "DATABASE_URL": _database_address(folder),
        "SECRET_KEY": "a key for tests only, which guards nothing at all",
        "LOG_FORMAT": "text",  # people read what pytest shows
    }
    for name in ("REDIS_URL", "OPENAI_BASE_URL", "OPENAI_API_KEY", "OPENAI_MODEL", "DEBUG", "ALLOWED_HOSTS"):
        os.environ[name] = ""  # stronger than a .env file

    import django  # only now: reading the settings reads the environment
    from django.conf import settings

    settings.DATABASES["default"].setdefault("TEST", {})["NAME"] = _test_name(folder)
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]  # fast
    django.setup()


def _database_address(folder: Path) -> str:
    if databases.chosen() == databases.SQLITE:
        return f"sqlite:///{folder / 'agentweb.sqlite3'}"
    address = _until_the_end.enter_context(databases.postgres_server())
    os.environ[databases.SERVER] = address  # whoever needs a server too takes the same one
    return address


def _test_name(folder: Path) -> str:
    """A file, not SQLite's memory: other threads and processes of a test must see it."""
    return str(folder / "test.sqlite3") if databases.chosen() == databases.SQLITE else f"agentweb_test_{os.getpid()}"


@pytest.fixture(autouse=True)
def in_english() -> Iterator[None]:
    """A page in Chinese leaves its thread in Chinese; the next test of that thread expects English."""
    yield
    if "django.utils.translation" in sys.modules:
        sys.modules["django.utils.translation"].deactivate()


@pytest.fixture(scope="session")
def django_db_keepdb() -> bool:
    """The test database goes with its folder or server; threads that still look at it do not matter."""
    return True


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup: None, django_db_blocker: Any) -> None:
    """The cast stands on the stage before the first test, which finds it much faster than it would make it. A test that
    commits clears the database behind itself, and after it the cast is made anew. Tests of processes that make their
    tables themselves have no test database, thus no cast."""
    from django.db import connection

    from tests.cast import make_cast

    if connection.settings_dict["NAME"] == connection.settings_dict["TEST"]["NAME"]:
        databases.clear_quickly(connection)
        with django_db_blocker.unblock():
            make_cast()


@pytest.fixture
def empty_site(db: None) -> None:
    """Nobody and nothing, as on the first start."""
    from django.apps import apps

    for model in reversed(list(apps.get_models())):  # what refers to others goes first
        if model._meta.app_label in ("teams", "registry"):
            model.objects.all().delete()


@pytest.fixture
def live_database(transactional_db: None) -> str:
    """DATABASE_URL of the test database, for real processes that work on it beside the test."""
    from django.db import connection

    return databases.address_of(connection.settings_dict)
