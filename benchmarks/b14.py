"""Own time per turn, without model and tools: turn 50 of a run over its turn 5.

In each turn the model asks for another file of 2,000 characters and is sent all that came before. The model server,
which answers at once, notes when a request was there and when its answer was written; what lies between an answer and
the next request, but for the time that the tool says it took, is ours. The median of the turn and its two neighbours
on each side counts, in each of some runs that follow each other.
"""

import statistics
import tempfile
from itertools import pairwise
from pathlib import Path
from uuid import uuid4

from benchmarks.figure import Figure, Options, at_most
from benchmarks.recorded import VARIABLE, exchanges
from benchmarks.repeating import Repetition, repeat
from benchmarks.site import ECHO, Site, site
from tests.e2e.program import Program

EARLY, LATE, AROUND = 5, 50, 2
TURNS = LATE + AROUND + 1
RUNS = 5
LINE = "One line of a file that an agent reads.\n"
FILE = LINE * 50


def measure(options: Options) -> list[Figure]:
    with tempfile.TemporaryDirectory(prefix="agentweb-b14-") as folder:
        record = Path(folder) / "exchanges"
        with site(**{VARIABLE: str(record)}) as place:
            _own_times(place.program(), record, turns=3)
            found = repeat(options, lambda: _once(place, record, options.runs or RUNS))
    details = found.summary("ratio", "turn 5 ms", "turn 50 ms")
    return [at_most("B14", found.median("ratio"), "times the time of turn 5", 1.3, 1.0, details)]


def _once(place: Site, record: Path, runs: int) -> Repetition:
    times = [_own_times(place.program(), record, TURNS) for _ in range(runs)]
    early, late = (statistics.median(_around(own, turn) for own in times) for turn in (EARLY, LATE))
    return Repetition({"ratio": late / early, "turn 5 ms": early, "turn 50 ms": late})


def _around(own: list[float], turn: int) -> float:
    return statistics.median(own[turn - AROUND - 1 : turn + AROUND])


def _own_times(program: Program, record: Path, turns: int) -> list[float]:
    """Milliseconds of our own in each turn of a new run, the first turn first."""
    conversation, key = program.converse(ECHO), uuid4().hex
    for number in range(turns):
        program.put(conversation, f"{number}.txt", f"File {number}.\n{FILE}")
    calls = "".join(f'[[call read_file {{"path": "{number}.txt"}}]]' for number in range(turns))
    run = program.send(conversation, f"{calls} [[tokens=3 rate=0 ttft=0 key={key}]]")
    ended = program.finish(run)
    assert ended["outcome"] == "answered", ended
    sent, tools = exchanges(record, key), _tool_ms(program, run)
    assert len(sent) == turns + 1 and len(tools) == turns, (len(sent), len(tools))
    return [
        (after.arrived - before.ended) / 1000 - tool
        for (before, after), tool in zip(pairwise(sent), tools, strict=True)
    ]


def _tool_ms(program: Program, run: str) -> list[float]:
    """What each call took, by its own event."""
    took: list[float] = []
    after = 0
    while told := program.events(run, after):
        took += [event["data"]["seconds"] * 1000 for event in told if event["kind"] == "ToolFinished"]
        after = told[-1]["number"]
    return took
