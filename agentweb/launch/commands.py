"""The command lines of the children: Valkey, the preparation of the data, workers and the web process."""

import sys
from collections.abc import Mapping

from agentweb.launch.child import Command
from agentweb.launch.environment import Environment
from agentweb.launch.valkey import Valkey

ROUNDING_SECONDS = 2.0
"""Given to a worker beyond the time in which it may bring its runs to a stop."""

LAST_STAGE = 1

_CALM = "ignore:You're running the worker with superuser privileges"
"""Celery warns of root because of pickle, which this site does not accept."""


def valkey(server: Valkey, environment: Environment) -> Command:
    """The embedded Redis; it stops after all that use it."""
    return Command("valkey", server.argv, environment.values, stage=LAST_STAGE)


def prepare(env: Mapping[str, str], manage: str) -> Command:
    """Migrations and, at the first start, the demo team; prints how to sign in."""
    return Command("prepare", (sys.executable, manage, "prepare"), env, once=True)


def worker(number: int, environment: Environment, env: Mapping[str, str]) -> Command:
    """A worker process: threads admit runs, one event loop drives them."""
    argv = (
        *(sys.executable, "-m", "celery", "--quiet", "-A", "agentweb.config.celery:app", "worker"),
        *("-P", "threads", "-c", str(environment.worker_slots), "-n", f"agentweb-{number}@%h"),
        *("-l", environment.log_level, "--without-gossip", "--without-mingle", "--without-heartbeat"),
    )
    warnings = ",".join(filter(None, (env.get("PYTHONWARNINGS"), _CALM)))
    calm = {**env, "PYTHONWARNINGS": warnings, "CELERY_SKIP_CHECKS": "1"}  # `prepare` has looked; they load the pages
    return Command(f"worker-{number}", argv, calm, grace=environment.drain_seconds + ROUNDING_SECONDS)


def web(descriptor: int, env: Mapping[str, str]) -> Command:
    """The web process, on a socket that listens already."""
    argv = (
        *(sys.executable, "-m", "daphne", "-v", "0", "--fd", str(descriptor), "--no-server-name"),
        "agentweb.config.asgi:application",
    )
    return Command("web", argv, env, pass_fds=(descriptor,))
