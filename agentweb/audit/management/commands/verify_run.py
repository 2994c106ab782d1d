"""`manage.py verify_run ID` and `--all`: check that nothing in the record of a run was changed, removed or added."""

import uuid
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from agentweb.audit import records
from agentweb.runs.models import Run


class Command(BaseCommand):
    help = "Check the record of a run: numbers, content, hash chain and signature. Fails when anything does not fit."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("run", nargs="?", type=uuid.UUID, metavar="ID", help="the run's id, as in its address")
        parser.add_argument("--all", action="store_true", dest="every", help="check every run there is")

    def handle(self, *args: Any, run: uuid.UUID | None = None, every: bool = False, **options: Any) -> None:
        if (run is None) == (not every):
            raise CommandError("Name one run by its id, or give --all.")
        checked = broken = 0
        for row in self._runs(run):
            checked += 1
            if found := records.check(row, records.read(row)):
                broken += 1
                self.stdout.write(f"{row.public_id}: {records.sentence(found)}")
        if run is not None and not checked:
            raise CommandError(f"There is no run {run}.")
        if broken:
            raise CommandError(f"{broken} of {checked} records do not fit.")
        self.stdout.write(f"{checked} checked: the record is whole." if checked == 1 else f"{checked} records checked.")

    @staticmethod
    def _runs(run: uuid.UUID | None) -> Iterator[Run]:
        """One at a time, so that a large site can be checked."""
        rows = Run.objects.filter(public_id=run) if run else Run.objects.all()
        yield from rows.order_by("pk").iterator(chunk_size=200)
