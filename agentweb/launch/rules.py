"""What the value of each environment variable must look like. A rule answers what is wrong, or None.

Answers complete the sentence "<NAME> ...". They never repeat a value that may hold a password.
"""

import ipaddress
import re
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from urllib.parse import SplitResult, urlsplit

Rule = Callable[[str], str | None]

SECRET_KEY_LENGTH = 32
_REDIS_SCHEMES = ("redis", "rediss", "unix")
_SQLITE_SCHEMES = ("sqlite", "sqlite3")
_POSTGRES_SCHEMES = ("postgres", "postgresql", "psql", "pgsql")
_HOST_NAME = re.compile(r"\.?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?|\[[0-9A-Fa-f:.]+\]|\*")
_TRUE_OR_FALSE = ("1", "0", "true", "false", "yes", "no", "on", "off")
_LOG_LEVELS = ("debug", "info", "warning", "error", "critical")


def whole_number(low: int, high: int) -> Rule:
    """A rule for an integer between two bounds, both included."""

    def rule(value: str) -> str | None:
        if re.fullmatch(r"[0-9]{1,9}", value) and low <= int(value) <= high:
            return None
        return f"must be a whole number from {low} to {high}, not {value!r}."

    return rule


def one_of(*choices: str) -> Rule:
    """A rule for a word out of a list, in any case."""

    def rule(value: str) -> str | None:
        return None if value.lower() in choices else f"must be one of {', '.join(choices)}, not {value!r}."

    return rule


def seconds(value: str) -> str | None:
    """A positive number of seconds, fractions allowed."""
    try:
        right = 0 < float(value) < 1e6
    except ValueError:
        right = False
    return None if right else f"must be a number of seconds above 0, not {value!r}."


def bind_address(value: str) -> str | None:
    """The address to listen on: an IP address, or localhost."""
    try:
        ipaddress.ip_address("127.0.0.1" if value == "localhost" else value)
    except ValueError:
        return f"must be an IP address such as 127.0.0.1 or 0.0.0.0, not {value!r}."
    return None


def redis_url(value: str) -> str | None:
    """redis://host:port/number, rediss:// for TLS, or unix:///path/to/socket."""
    url = _split(value)
    if url is None or url.scheme not in _REDIS_SCHEMES:
        return "must look like redis://host:6379/0, rediss://host:6380/0 or unix:///path/to/socket."
    if url.scheme == "unix":
        return None if url.path else "names no socket: unix:///path/to/socket."
    if not url.hostname:
        return "names no host: redis://host:6379/0."
    if not re.fullmatch(r"/?[0-9]*", url.path):
        return "must end with the number of a database: redis://host:6379/0."
    return None


def database_url(value: str) -> str | None:
    """sqlite:///path, or postgres://user:password@host:port/name."""
    url = _split(value)
    if url is None or url.scheme not in _SQLITE_SCHEMES + _POSTGRES_SCHEMES:
        return "must look like sqlite:////absolute/path.sqlite3 or postgres://user:password@host:5432/name."
    if not url.path.strip("/"):
        return "names no database: the part after the host is empty."
    if url.scheme in _POSTGRES_SCHEMES and find_spec("psycopg") is None:
        return "names a PostgreSQL database, and the package psycopg is missing: pip install 'agentweb[postgres]'."
    return None


def http_url(value: str) -> str | None:
    """An http or https address with a host."""
    url = _split(value)
    if url is None or url.scheme not in ("http", "https") or not url.hostname:
        return f"must be an address such as https://models.example/v1, not {value!r}."
    return None


def secret_key(value: str) -> str | None:
    """Long enough that sessions and stored keys cannot be guessed."""
    return None if len(value) >= SECRET_KEY_LENGTH else f"must have at least {SECRET_KEY_LENGTH} characters."


def host_names(value: str) -> str | None:
    """Host names with commas between, without scheme, port or path."""
    for name in _listed(value):
        if not _HOST_NAME.fullmatch(name):
            return f"must list host names such as chat.example,.internal.example; {name!r} is not one."
    return None


def origins(value: str) -> str | None:
    """Origins with commas between: scheme and host, perhaps a port, no path."""
    for origin in _listed(value):
        url = _split(origin)
        if url is None or url.scheme not in ("http", "https") or not url.netloc or url.path or url.query:
            return f"must list origins such as https://chat.example; {origin!r} is not one."
    return None


def _listed(value: str) -> list[str]:
    return [item.strip() for item in value.split(",") if item.strip()]


def _split(value: str) -> SplitResult | None:
    try:
        url = urlsplit(value)
        _ = url.port
    except ValueError:
        return None
    return url


RULES: Mapping[str, Rule] = {
    "PORT": whole_number(1, 65535),
    "HOST": bind_address,
    "WORKERS": whole_number(1, 64),
    "WORKER_SLOTS": whole_number(1, 1000),
    "TOOL_THREADS": whole_number(1, 1000),
    "MAX_ATTEMPTS": whole_number(1, 1000),
    "LEASE_SECONDS": seconds,
    "BEAT_SECONDS": seconds,
    "SWEEP_SECONDS": seconds,
    "FLUSH_SECONDS": seconds,
    "DRAIN_SECONDS": seconds,
    "LOG_LEVEL": one_of(*_LOG_LEVELS),
    "LOG_FORMAT": one_of("json", "text"),
    "DEBUG": one_of(*_TRUE_OR_FALSE),
    "SECRET_KEY": secret_key,
    "ALLOWED_HOSTS": host_names,
    "CSRF_TRUSTED_ORIGINS": origins,
    "HSTS_SECONDS": whole_number(0, 100_000_000),
    "TRUSTED_PROXIES": whole_number(0, 10),
    "REDIS_URL": redis_url,
    "DATABASE_URL": database_url,
    "OPENAI_BASE_URL": http_url,
    "SEARXNG_URL": http_url,
    "DUCKDUCKGO_SEARCH": one_of(*_TRUE_OR_FALSE),
}


def first_broken(values: Mapping[str, str]) -> str | None:
    """The sentence about the first wrong value, None when all are right."""
    for name, rule in RULES.items():
        wrong = rule(values[name]) if name in values else None
        if wrong:
            return f"{name} {wrong}"
    return None
