"""`manage.py messages`: gather the words of the interface and compile their translations."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agentweb.ui import catalogue


class Command(BaseCommand):
    help = "Gather the strings of code and templates into the Chinese catalogue and compile it."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--check", action="store_true", help="change nothing, fail when one is missing")

    def handle(self, *args: Any, check: bool = False, **options: Any) -> None:
        found = catalogue.merged()
        missing = catalogue.untranslated(found)
        if not check:
            folder = catalogue.folder()
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "django.po").write_bytes(catalogue.po_bytes(found))
            (folder / "django.mo").write_bytes(catalogue.mo_bytes(found))
        for message in missing:
            self.stdout.write(f"no translation: {message}")
        self.stdout.write(f"{len(found)} strings, {len(missing)} without translation")
        if check and missing:
            raise CommandError("Some strings have no translation.")
