"""Make an API token for a person and print it, this once."""

import sys

from django.core.management.base import BaseCommand, CommandParser

from agentweb.teams.models import User
from agentweb.teams.tokens import create_token


class Command(BaseCommand):
    help = "Make an API token for a person and print it, this once."
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="user name")
        parser.add_argument("--name", default="command line", help="what the token is for")

    def handle(self, *args, user: str, name: str, **options) -> None:
        person = User.objects.filter(username=user, is_active=True).first()
        if person is None:
            self.stderr.write(f"There is no active user named {user!r}.")
            sys.exit(2)
        self.stdout.write(create_token(user=person, name=name[:100]))
