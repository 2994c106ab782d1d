"""What the environment and `.env` may say, and the sentence about what they may not."""

from pathlib import Path

import pytest

from agentweb.launch import environment
from agentweb.launch.refusal import MISCONFIGURED, Refusal


def test_without_any_variable_the_defaults_hold(tmp_path: Path):
    settings = environment.load({}, tmp_path)
    assert (settings.host, settings.port, settings.port_is_explicit) == ("127.0.0.1", 8000, False)
    assert settings.data_dir == tmp_path / "data"
    assert (settings.redis_url, settings.database_url) == (None, None)
    assert settings.workers >= 1


def test_the_process_environment_wins_over_the_file_and_the_command_line_over_both(tmp_path: Path):
    (tmp_path / ".env").write_text("PORT=8100\nWORKERS=3\nHOST=0.0.0.0\n")
    settings = environment.load({"PORT": "8200", "WORKERS": "2"}, tmp_path, workers=1)
    assert (settings.host, settings.port, settings.workers) == ("0.0.0.0", 8200, 1)
    assert settings.port_is_explicit


def test_an_empty_value_is_as_good_as_none(tmp_path: Path):
    (tmp_path / ".env").write_text("REDIS_URL=\nPORT=\n")
    settings = environment.load({"DATABASE_URL": "", "SECRET_KEY": ""}, tmp_path)
    assert (settings.redis_url, settings.database_url, settings.port_is_explicit) == (None, None, False)


def test_children_inherit_everything_and_an_absolute_data_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    settings = environment.load({"DATA_DIR": "mine", "OTHER": "x"}, tmp_path)
    env = settings.for_children(REDIS_URL="redis://127.0.0.1:1/0")
    assert env["DATA_DIR"] == str(tmp_path / "mine")
    assert (env["OTHER"], env["REDIS_URL"]) == ("x", "redis://127.0.0.1:1/0")


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("PORT", "abc", "a whole number from 1 to 65535, not 'abc'"),
        ("PORT", "0", "from 1 to 65535"),
        ("PORT", "65536", "from 1 to 65535"),
        ("PORT", "8000.5", "a whole number"),
        ("PORT", "٣", "a whole number"),
        ("HOST", "example.org", "an IP address"),
        ("WORKERS", "-1", "from 1 to 64"),
        ("WORKER_SLOTS", "many", "from 1 to 1000"),
        ("MAX_ATTEMPTS", "0", "from 1 to 1000"),
        ("HSTS_SECONDS", "1.5", "from 0 to 100000000"),
        ("TRUSTED_PROXIES", "-1", "from 0 to 10"),
        ("LEASE_SECONDS", "0", "above 0"),
        ("LEASE_SECONDS", "nan", "above 0"),
        ("LEASE_SECONDS", "soon", "a number of seconds"),
        ("LOG_LEVEL", "loud", "one of debug, info"),
        ("LOG_FORMAT", "xml", "one of json, text"),
        ("DEBUG", "maybe", "one of 1, 0, true"),
        ("SECRET_KEY", "short", "at least 32 characters"),
        ("ALLOWED_HOSTS", "https://chat.example", "host names"),
        ("ALLOWED_HOSTS", "chat.example:8000", "host names"),
        ("CSRF_TRUSTED_ORIGINS", "chat.example", "origins such as https://chat.example"),
        ("CSRF_TRUSTED_ORIGINS", "https://chat.example/path", "origins"),
        ("REDIS_URL", "localhost:6379", "redis://host:6379/0"),
        ("REDIS_URL", "redis:///0", "names no host"),
        ("REDIS_URL", "redis://host:port/0", "must look like"),
        ("REDIS_URL", "redis://host:6379/first", "number of a database"),
        ("REDIS_URL", "unix://", "names no socket"),
        ("DATABASE_URL", "mysql://host/name", "postgres://user:password@host:5432/name"),
        ("DATABASE_URL", "postgres://host", "names no database"),
        ("DATABASE_URL", "/data/db.sqlite3", "must look like"),
        ("OPENAI_BASE_URL", "models.example/v1", "https://models.example/v1"),
    ],
)
def test_a_wrong_value_stops_the_start_with_a_sentence_that_names_the_variable(tmp_path: Path, name, value, says):
    with pytest.raises(Refusal) as refused:
        environment.load({name: value}, tmp_path)
    assert refused.value.sentence.startswith(f"{name} ")
    assert says in refused.value.sentence
    assert refused.value.status == MISCONFIGURED


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("PORT", "1"),
        ("PORT", "65535"),
        ("HOST", "localhost"),
        ("HOST", "::1"),
        ("LEASE_SECONDS", "0.5"),
        ("LOG_LEVEL", "WARNING"),
        ("DEBUG", "True"),
        ("ALLOWED_HOSTS", "chat.example, .internal.example,127.0.0.1,[::1],*"),
        ("CSRF_TRUSTED_ORIGINS", "https://chat.example,http://localhost:8080,https://*.example"),
        ("REDIS_URL", "redis://:secret@127.0.0.1:6379/2"),
        ("REDIS_URL", "rediss://host"),
        ("REDIS_URL", "unix:///run/redis.sock"),
        ("DATABASE_URL", "sqlite:////var/lib/agentweb/db.sqlite3"),
        ("DATABASE_URL", "postgresql://postgres:@/postgres?host=/tmp/pg"),
        ("DATABASE_URL", "postgres://user:p%40ss@host:5432/name"),
        ("OPENAI_BASE_URL", "http://127.0.0.1:11434/v1"),
    ],
)
def test_a_right_value_is_taken(tmp_path: Path, name, value):
    assert environment.load({name: value}, tmp_path).values[name] == value


@pytest.mark.parametrize("name", ["REDIS_URL", "DATABASE_URL", "SECRET_KEY"])
def test_a_sentence_never_repeats_what_may_be_a_secret(tmp_path: Path, name):
    with pytest.raises(Refusal) as refused:
        environment.load({name: "http://me:hunter2@host/0/1"}, tmp_path)
    assert "hunter2" not in refused.value.sentence
