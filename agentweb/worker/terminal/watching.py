"""Following a run to its end: telling what happens, having decided what waits, cancelling on Ctrl-C."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import timedelta

from django.conf import settings
from django.db.models.functions import Now
from django.utils.translation import gettext as _

from agentweb.runs import selectors, services
from agentweb.runs.errors import Forbidden
from agentweb.runs.models import Run, WorkerProcess
from agentweb.teams.models import User
from agentweb.worker.terminal.deciding import Decider
from agentweb.worker.terminal.frames import Frames
from agentweb.worker.terminal.views import View

LOOK_S = 5.0
NO_WORKER_S = 120.0


@dataclass
class Watch:
    """One run, as ``run_for`` let the person have it. ``seen`` is the number of the last event that was told."""

    user: User
    run: Run
    view: View
    decider: Decider
    say: Callable[[str], None]
    seen: int = 0
    finished: bool = False
    given_up: bool = False
    _cancelled: bool = False
    _alone_since: float = field(default_factory=time.monotonic)

    def to_the_end(self) -> Run.Outcome | None:
        """How the run ended; None when it was left before its end."""
        with Frames(str(self.run.public_id), str(self.run.conversation.public_id)) as frames:
            while not (self.finished or self.given_up):
                try:
                    self._step(frames)
                except KeyboardInterrupt:
                    self._interrupt()
        self.run.refresh_from_db(fields=["status", "outcome"])
        return Run.Outcome(self.run.outcome) if self.finished else None

    def _step(self, frames: Frames) -> None:
        frame = frames.next(LOOK_S)
        if frame is None:
            self._tell_events()
            self._look_for_workers()
            self.given_up = self.given_up or (frames.ended and not self.finished)
            return
        self.view.live(frame)
        if frame.get("events"):
            self._tell_events()

    def _tell_events(self) -> None:
        while rows := selectors.events_after(self.run, self.seen):
            for row in rows:
                self.seen = row.number
                self.view.event(row)
                if row.kind == "RunPaused":
                    self.view.break_line()
                    self.decider.settle()
                self.finished = row.kind == "RunFinished"

    def _look_for_workers(self) -> None:
        """A run that no worker can take would be waited for in vain."""
        self.run.refresh_from_db(fields=["status"])
        fresh = Now() - timedelta(seconds=settings.LEASE_SECONDS)
        if self.run.status != Run.Status.QUEUED or WorkerProcess.objects.filter(beat_at__gt=fresh).exists():
            self._alone_since = time.monotonic()
        elif time.monotonic() - self._alone_since > NO_WORKER_S:
            self.say(_("No worker has come to take the run, so it is cancelled."))
            services.cancel_run(user=self.user, run=self.run)
            self.given_up = True

    def _interrupt(self) -> None:
        """The first Ctrl-C cancels the run and waits for its end, the second one leaves at once."""
        self.view.break_line()
        if self._cancelled:
            self.given_up = True
            return
        self._cancelled = True
        self.say(_("Cancelling the run. Ctrl-C again leaves without waiting."))
        try:
            services.cancel_run(user=self.user, run=self.run)
        except Forbidden as error:
            self.say(error.text)
            self.given_up = True
