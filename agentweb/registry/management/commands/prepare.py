"""Bring database and first data to where the site can work. Safe to run at every start."""

from django.core.management import call_command
from django.core.management.base import BaseCommand

from agentweb.registry import demo


class Command(BaseCommand):
    help = "Migrate, then make what is missing: tools, scripted model, policy, agents, and on a new site a demo team."

    def handle(self, *args, **options) -> None:
        call_command("migrate", interactive=False, verbosity=0)
        accounts = demo.prepare()
        if hint := demo.lone_setting():
            self.stdout.write(hint)
        if accounts:
            self.stdout.write("The demo team is ready. These passwords are shown this once:\n")
            for account in accounts:
                self.stdout.write(f"    {account.username:<8} {account.password:<14} ({account.role})")
