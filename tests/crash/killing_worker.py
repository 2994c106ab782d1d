"""A worker like any other, but that it kills itself with SIGKILL at the place in the journal that an order names.

Run as `python -m tests.crash.killing_worker` with the arguments of `celery`.
"""

import os
import signal
import sys
import threading
from functools import wraps
from pathlib import Path
from typing import Any

import django
from celery.__main__ import main

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentweb.config.settings")
django.setup()

from agentweb.runs import journal  # noqa: E402  models need Django to be set up
from tests.crash.traces import FOLDER, Traces  # noqa: E402


class Executioner:
    """Looks at each batch before and after its commit."""

    def __init__(self, traces: Traces) -> None:
        self._traces = traces
        self._arrived: set[str] = set()
        self._all_here = threading.Condition()

    def look(self, when: str, run: str, kinds: set[str]) -> None:
        order = self._traces.order()
        if order is None or order.when != when or order.kind not in kinds:
            return
        with self._all_here:
            self._arrived.add(run)
            self._all_here.notify_all()
            self._all_here.wait_for(lambda: len(self._arrived) >= order.runs)
            if not order.again:
                self._traces.withdraw()
            os.kill(os.getpid(), signal.SIGKILL)


def watched(executioner: Executioner) -> None:
    """Put the executioner around the two doors by which a worker writes."""
    claim, append = journal.claim, journal.append

    @wraps(claim)
    def watched_claim(run: str, worker: Any) -> journal.Claimed | None:
        claimed = claim(run, worker)
        if claimed is not None:
            executioner.look("after", run, {"RunClaimed"})
        return claimed

    @wraps(append)
    def watched_append(claimed: journal.Claimed, batch: Any, *basis: Any) -> journal.Appended:
        kinds = {type(event).__name__ for event in batch}
        executioner.look("before", claimed.run, kinds)
        appended = append(claimed, batch, *basis)
        executioner.look("after", claimed.run, kinds)
        return appended

    journal.claim, journal.append = watched_claim, watched_append


if __name__ == "__main__":
    watched(Executioner(Traces(Path(os.environ[FOLDER]))))
    sys.exit(main())
