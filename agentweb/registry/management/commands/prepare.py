"""Bring database and first data to where the site can work. Safe to run at every start."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager

from django.conf import settings
from django.core.checks import run_checks
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.utils import OperationalError

from agentweb.registry import demo
from agentweb.registry.checks import TAG


class Command(BaseCommand):
    help = "Migrate, then make what is missing: tools, scripted model, policy, agents, and on a new site a demo team."
    requires_system_checks = []  # only what makes a start impossible is said here; `check` says the rest

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--quiet", action="store_true", help="keep the passwords of new people to oneself")

    def handle(self, *args, quiet: bool = False, **options) -> None:
        _refuse_what_cannot_work()
        try:
            with _alone():
                call_command("migrate", interactive=False, verbosity=0)
                accounts = demo.prepare()
        except OperationalError as error:
            raise CommandError(f"DATABASE_URL: the database cannot be used: {error}") from error
        if accounts and quiet:
            names = ", ".join(account.username for account in accounts)
            self.stderr.write(f"New people: {names}. Give them passwords: manage.py changepassword NAME")
        elif accounts:
            self.stdout.write("The demo team is ready. These passwords are shown this once:\n")
            for account in accounts:
                self.stdout.write(f"    {account.username:<8} {account.password:<14} ({account.role})")


def _refuse_what_cannot_work() -> None:
    wrong = [found for found in run_checks(tags=[TAG]) if found.is_serious()]
    if wrong:
        raise CommandError("\n".join(f"{found.msg} {found.hint or ''}".rstrip() for found in wrong))


@contextmanager
def _alone() -> Iterator[None]:
    """One preparation of a data folder at a time: two would make the same tables."""
    with open(settings.DATA_DIR / "prepare.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield
