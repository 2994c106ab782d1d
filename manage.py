#!/usr/bin/env python3
"""Entry point of every command. `up` starts all processes and never loads Django, `ask` starts what it needs before it
does; the rest is Django's."""

import os
import sys
from pathlib import Path

from agentweb.launch import ask, up


def run_django(arguments: list[str]) -> None:
    """Hand over to Django, or say in one sentence which interpreter to use."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "agentweb.config.settings")
    try:
        from django.core.management import execute_from_command_line
    except ModuleNotFoundError as missing:
        python = Path(__file__).resolve().parent / ".venv" / "bin" / "python"
        sys.exit(
            f"manage.py: {sys.executable} has no package named {missing.name!r}. "
            f"Run `make up` once to install what is needed, then use {python} manage.py."
        )
    execute_from_command_line(arguments)


if __name__ == "__main__":
    if sys.argv[1:2] == ["up"]:
        sys.exit(up.main(sys.argv[2:]))
    if sys.argv[1:2] == ["ask"]:
        sys.exit(ask.main(sys.argv, run_django))
    run_django(sys.argv)
