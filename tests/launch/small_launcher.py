"""A launcher with tiny children, in the way of `manage.py up`: FOLDER, then NAME=SHELL COMMAND for each child.

NAME=valkey starts the real embedded server; the child named `patient` is given five minutes to stop. Prints `started`
once all children have been started.
"""

import os
import sys
from pathlib import Path

from agentweb.launch.child import Command
from agentweb.launch.output import Console
from agentweb.launch.refusal import Refusal
from agentweb.launch.rundir import RunDirectory
from agentweb.launch.supervisor import Supervisor
from agentweb.launch.valkey import configure


def command(name: str, line: str, folder: Path, run_dir: RunDirectory) -> Command:
    """The command of one argument."""
    if name == "valkey":
        return Command(name, configure(folder / "valkey", run_dir.path, os.environ).argv, os.environ, stage=1)
    return Command(name, ("/bin/sh", "-c", line), os.environ, grace=300.0 if name == "patient" else 1.0)


def main(folder: Path, children: list[str]) -> int:
    """Serve until a stop signal or a child that cannot be kept alive."""
    run_dir = RunDirectory(folder / "run" / "up")
    try:
        run_dir.take()
    except Refusal as refusal:
        print(refusal.sentence, file=sys.stderr)
        return 2
    console = Console()
    for name in run_dir.end_leftovers():
        console.say(f"ended {name}")
    with Supervisor(cwd=folder, run_dir=run_dir, logs=folder / "logs", console=console) as supervisor:
        for name, _, line in (child.partition("=") for child in children):
            supervisor.start(command(name, line, folder, run_dir))
        console.say("started")
        supervisor.serve()
        clean = supervisor.stop()
    run_dir.release()
    if supervisor.failed:
        print(f"{supervisor.failed.command.name} failed: {list(supervisor.failed.lines)}", file=sys.stderr)
        return 1
    return 0 if clean else 3


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2:]))
