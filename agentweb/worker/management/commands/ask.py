"""Ask an agent from the terminal, watch the run, and decide about its calls."""

import os
import sys

from django.core.management.base import BaseCommand, CommandParser
from django.utils.translation import gettext as _

from agentweb.launch import ask
from agentweb.runs import selectors, services
from agentweb.runs.errors import RequestError
from agentweb.runs.models import Run
from agentweb.runs.services import Sent
from agentweb.teams.models import User
from agentweb.worker.terminal import asking
from agentweb.worker.terminal.deciding import Approve, Decider
from agentweb.worker.terminal.views import Lines, Story
from agentweb.worker.terminal.watching import Watch

USAGE, OTHER_OUTCOME = 2, 3


class Command(BaseCommand):
    help = "Ask an agent and follow the run. Exit status: 0 answered, 3 another outcome, 2 wrong usage."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        ask.add_arguments(parser)

    def handle(self, *args, question, agent, conversation, approve, user, jsonl, **options) -> None:
        self.stderr.style_func = None  # not everything beside standard output is an error
        approve, attended = Approve(approve), True
        if approve is Approve.ASK and not (sys.stdin.isatty() and sys.stderr.isatty()):
            approve, attended = Approve.NONE, False
        try:
            person = asking.person(user)
            sent = asking.send(
                user=person, question=question, agent=agent, conversation=conversation, attended=attended
            )
        except RequestError as error:
            self._say(error.text)
            sys.exit(USAGE)
        run = selectors.run_for(person, sent.run.public_id)
        try:
            outcome = self._watch(person, run, sent, approve, jsonl).to_the_end()
        except BrokenPipeError:  # who read has left
            services.cancel_run(user=person, run=run)
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(OTHER_OUTCOME)
        if not jsonl:
            self._write(_("conversation: %(id)s") % {"id": run.conversation.public_id} + "\n")
        sys.exit(0 if outcome == Run.Outcome.ANSWERED else OTHER_OUTCOME)

    def _watch(self, person: User, run: Run, sent: Sent, approve: Approve, jsonl: bool) -> Watch:
        """Events before the question are told to programs only: people have seen them."""
        view = Lines(self._write) if jsonl else Story(self._write, colour=_colourful(self.stdout))
        decider = Decider(user=person, run=run, approve=approve, say=self._say, prompt=self._prompt)
        seen = 0 if jsonl or sent.delivered == "now" else run.last_event
        return Watch(user=person, run=run, view=view, decider=decider, say=self._say, seen=seen)

    def _write(self, text: str) -> None:
        self.stdout.write(text, ending="")
        self.stdout.flush()

    def _say(self, text: str) -> None:
        self.stderr.write(text)
        self.stderr.flush()

    def _prompt(self, text: str) -> str | None:
        """A line from the terminal; the question goes beside standard output."""
        self.stderr.write(text, ending="")
        self.stderr.flush()
        return sys.stdin.readline() or None


def _colourful(stream) -> bool:
    return stream.isatty() and "NO_COLOR" not in os.environ
