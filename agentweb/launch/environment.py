"""What the surroundings ask for: the process environment over `.env`, checked before anything starts."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from agentweb.launch import dotenv, rules
from agentweb.launch.refusal import MISCONFIGURED, Refusal

DEFAULT_PORT = 8000
DEFAULT_SLOTS = 64
DEFAULT_DRAIN_SECONDS = 10.0
MOST_DEFAULT_WORKERS = 4


@dataclass(frozen=True)
class Environment:
    """The checked values. `values` is everything that children inherit; empty values count as absent."""

    values: Mapping[str, str]
    data_dir: Path
    host: str
    port: int
    port_is_explicit: bool
    workers: int
    worker_slots: int
    drain_seconds: float
    log_level: str
    redis_url: str | None
    database_url: str | None

    def for_children(self, **more: str) -> dict[str, str]:
        """The environment of a child process: absolute data folder, unbuffered output, and `more`."""
        return {**self.values, "DATA_DIR": str(self.data_dir), "PYTHONUNBUFFERED": "1", **more}


def load(
    surroundings: Mapping[str, str], root: Path, *, port: int | None = None, workers: int | None = None
) -> Environment:
    """Merge and check. `port` and `workers` come from the command line and win. Raises Refusal (status 2).

    `root` is the folder of manage.py: `.env` is looked for there, and `data` is made there unless DATA_DIR says else.
    """
    values = {name: value for name, value in dotenv.read(root / ".env").items() if value}
    values |= {name: value for name, value in surroundings.items() if value or name not in rules.RULES}
    for name, number in (("PORT", port), ("WORKERS", workers)):
        if number is not None:
            values[name] = str(number)
    broken = rules.first_broken(values)
    if broken:
        raise Refusal(broken, MISCONFIGURED)
    return Environment(
        values=values,
        data_dir=Path(values.get("DATA_DIR") or root / "data").resolve(),
        host=values.get("HOST", "127.0.0.1"),
        port=int(values.get("PORT", DEFAULT_PORT)),
        port_is_explicit="PORT" in values,
        workers=int(values.get("WORKERS", _default_workers(os.cpu_count() or 1))),
        worker_slots=int(values.get("WORKER_SLOTS", DEFAULT_SLOTS)),
        drain_seconds=float(values.get("DRAIN_SECONDS", DEFAULT_DRAIN_SECONDS)),
        log_level=values.get("LOG_LEVEL", "info").upper(),
        redis_url=values.get("REDIS_URL"),
        database_url=values.get("DATABASE_URL"),
    )


def _default_workers(cores: int) -> int:
    """Half of the cores: the other half is for the web process, the database and the person's own work."""
    return max(1, min(MOST_DEFAULT_WORKERS, cores // 2))
