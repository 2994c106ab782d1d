"""How much of each request of a run stands byte for byte at the beginning of the next one, which providers cache.

One run of 30 turns with calls whose arguments have no special order, two approvals, a message from a person in the
middle and a change of worker; the model server keeps what it was sent. The prompt is tools and messages in the order
in which providers read them. B17 is the least share of a request that the next one begins with; B17 cached is what of
all prompts but the first had been sent before, which also depends on how much each turn adds.
"""

import tempfile
from itertools import pairwise
from pathlib import Path

from benchmarks.figure import Figure, Options, at_least
from benchmarks.recorded import VARIABLE, Exchange, common, exchanges
from benchmarks.site import ECHO, Site, site
from tests.e2e.program import Program
from tests.waiting import until

TURNS = 30
KEY = "b17"
FILE = "Some words of a file. " * 20
END = f"[[say=12 tokens=20 rate=0 ttft=0 key={KEY}]]"
"""The model server goes by the last message, so each message ends like this."""


def measure(options: Options) -> list[Figure]:
    half = max(2, (options.runs or TURNS) // 2)
    with tempfile.TemporaryDirectory(prefix="agentweb-b17-") as folder:
        record = Path(folder) / "exchanges"
        with site(**{VARIABLE: str(record)}) as place:
            _play(place, half)
        sent = exchanges(record, KEY)
    kept = [100 * common(one.prompt, other.prompt) / len(one.prompt) for one, other in pairwise(sent)]
    details = f"  {len(sent)} requests, the last of {len(sent[-1].prompt):,} bytes{_changed(sent, kept)}"
    return [
        at_least("B17 cached", _cached(sent), "% of all prompts had been sent before", 95),
        at_least("B17", min(kept), "% of a request at least at the beginning of the next", 95, 100, details),
    ]


def _cached(sent: list[Exchange]) -> float:
    same = sum(common(one.prompt, other.prompt) for one, other in pairwise(sent))
    return 100 * same / sum(len(each.prompt) for each in sent[1:])


def _changed(sent: list[Exchange], kept: list[float]) -> str:
    """Where requests part from the one before them, if any do."""
    lines = []
    for number, (share, (one, other)) in enumerate(zip(kept, pairwise(sent), strict=True), 2):
        if share < 100:
            at = common(one.prompt, other.prompt)
            lines.append(f"\n  request {number} at byte {at}: {one.prompt[at - 40 : at + 60]!r} became")
            lines.append(f"\n    {other.prompt[at - 40 : at + 60]!r}")
    return "".join(lines)


def _play(place: Site, half: int) -> None:
    program = place.program()
    conversation = program.converse(ECHO)
    for number in range(2 * half):
        program.put(conversation, f"{number}.txt", f"File {number}. {FILE}")
    run = program.send(conversation, f"{_reads(0, half)} {_write('a.txt')} {END}")
    until(lambda: program.get(f"/runs/{run}")["status"] == "waiting", 60, "the run asks")
    program.post(f"/conversations/{conversation}/messages", text=f"{_reads(half, 2 * half)} {_write('b.txt')} {END}")
    place.stack.stop("worker-1")
    place.stack.start("worker-1")
    _approve(program, run)
    ended = program.finish(run, lambda paused: _approve(program, paused))
    assert ended["outcome"] == "answered", ended


def _reads(first: int, last: int) -> str:
    return "".join(f'[[call read_file {{"path": "{number}.txt"}}]]' for number in range(first, last))


def _write(path: str) -> str:
    return f'[[call write_file {{"path": "{path}", "content": "Words with \\u00e4 and 1.0"}}]]'


def _approve(program: Program, run: str) -> None:
    for approval in program.pending(run):
        program.decide(approval, "approve", comment="looked at")
