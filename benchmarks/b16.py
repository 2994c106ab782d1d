"""The first page of a conversation with 10,000 messages: server time over that of one with 30, and queries.

Pages of both are fetched in turn, over the wire from the real web process; the medians count.
"""

import json
import statistics
import time

import httpx2

from benchmarks.figure import Figure, Options, at_most, exactly
from benchmarks.repeating import Repetition, repeat
from benchmarks.site import PLAIN, Site, site

SHORT, LONG = 15, 5_000  # questions, each with its answer
FETCHES = 40
LENGTHEN = """
from agentweb.runs.models import Run
from tests.chat.views.talked import lengthen
lengthen(Run.objects.get(public_id={run!r}), {number})
"""
COUNT = """
import json
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from agentweb.teams.models import User
client = Client(headers={{"Host": "127.0.0.1"}})
client.force_login(User.objects.get(username="ann"))
numbers = []
for conversation in {conversations!r}:
    client.get(f"/c/{{conversation}}/")
    with CaptureQueriesContext(connection) as queries:
        assert client.get(f"/c/{{conversation}}/").status_code == 200
    numbers.append(len(queries))
print(json.dumps(numbers))
"""


def measure(options: Options) -> list[Figure]:
    with site() as place:
        pages = [_talked(place, number) for number in (SHORT, LONG)]
        counted = place.stack.manage("shell", "-c", COUNT.format(conversations=pages)).stdout.splitlines()[-1]
        few, many = json.loads(counted)
        found = repeat(options, lambda: _once(place, pages))
    details = f"{found.summary('ratio', '30 ms', '10,000 ms')}\n  queries: {few} and {many}"
    return [
        at_most("B16", found.median("ratio"), "times the time of a short one", 1.3, None, details),
        exactly("B16 queries", many - few, "queries more", 0),
    ]


def _talked(place: Site, number: int) -> str:
    program = place.program()
    conversation = program.converse(PLAIN)
    run = program.finish(program.send(conversation, "[[tokens=3 rate=0 ttft=0]]"))
    place.stack.manage("shell", "-c", LENGTHEN.format(run=run["id"], number=number))
    return conversation


def _once(place: Site, pages: list[str]) -> Repetition:
    times: dict[str, list[float]] = {page: [] for page in pages}
    headers = {"Cookie": place.session()}
    with httpx2.Client(base_url=place.stack.url, headers=headers, timeout=60, trust_env=False) as client:
        for number in range(FETCHES + 1):
            for page in pages:
                begun = time.perf_counter()
                client.get(f"/c/{page}/").raise_for_status()
                if number:  # the first of each opens what is kept open then
                    times[page].append((time.perf_counter() - begun) * 1000)
    short, long = (statistics.median(times[page]) for page in pages)
    return Repetition({"ratio": long / short, "30 ms": short, "10,000 ms": long})
