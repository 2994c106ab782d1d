"""What 1,000 runs cost that wait for approval: slots held, and CPU of the worker over that of an idle one.

The worker has 4 slots. Its CPU is taken over a minute before there are any runs and over a minute while all wait; then
one more run must still be answered, which it could not if waiting runs held slots.
"""

import json
import subprocess
import sys
import time

from benchmarks import machine
from benchmarks.figure import Figure, Options, at_most, exactly
from benchmarks.site import ECHO, PLAIN, Site, site
from tests.e2e.program import Program
from tests.stack import ROOT
from tests.waiting import until

RUNS = 1_000
SECONDS = 60.0
SLOTS = 4
SETTLE_S = 6.0  # a sweep and its successor
WAITING_S = 600.0
ASKS = '[[call write_file {"path": "a.txt", "content": "words"}]] [[tokens=3 rate=0 ttft=0]]'


def measure(options: Options) -> list[Figure]:
    runs, seconds = options.runs or RUNS, options.seconds or SECONDS
    with site(WORKER_SLOTS=str(SLOTS)) as place:
        program = place.program()
        _answered(program)
        idle = _cpu(place, seconds)
        print(f"idle worker: {idle * 1000:.1f} ms of CPU a second", flush=True)
        for _ in range(runs):
            program.send(program.converse(ECHO), ASKS)
        until(lambda: _waiting(place) == runs, WAITING_S, f"all {runs} runs wait")
        waiting = _cpu(place, seconds)
        held = _active(place)
        _answered(program)
    details = f"with {runs:,} runs that wait: {waiting * 1000:.1f} ms of CPU a second, {held} of {SLOTS} slots held"
    return [
        exactly("B10 slots", held, "slots held", 0, details),
        at_most("B10 CPU", waiting / idle, "× that of an idle worker", 1.2),
    ]


def _cpu(place: Site, seconds: float) -> float:
    """Seconds of CPU that the worker takes in a second."""
    time.sleep(SETTLE_S)
    before, begun = machine.cpu_seconds(place.worker_pids), time.monotonic()
    time.sleep(seconds)
    return (machine.cpu_seconds(place.worker_pids) - before) / (time.monotonic() - begun)


def _answered(program: Program) -> None:
    run = program.finish(program.send(program.converse(PLAIN), "[[tokens=3 rate=0 ttft=0]]"))
    assert run["outcome"] == "answered", run


def _waiting(place: Site) -> int:
    code = "from agentweb.runs.models import Run; print(Run.objects.filter(status='waiting').count())"
    return int(place.stack.manage("shell", "-c", code).stdout.splitlines()[-1])


def _active(place: Site) -> int:
    """Tasks that the worker says it works on."""
    command = (sys.executable, "-m", "celery", "-A", "agentweb.config.celery:app", "inspect", "active", "--json")
    asked = subprocess.run(command, env=place.stack.env, cwd=ROOT, capture_output=True, text=True, check=True)
    return sum(map(len, json.loads(asked.stdout.splitlines()[-1]).values()))
