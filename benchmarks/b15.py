"""A browser's main thread for a 20,000-token markdown answer with 300 messages above it, and what is sent to it.

The page holds all of the messages above, brought in as a person does who scrolls up, and is then read at its end.
"""

from playwright.sync_api import Page

from benchmarks.browser import held_back, reader, watch
from benchmarks.figure import Figure, Options, at_most
from benchmarks.repeating import Repetition, noise, repeat
from benchmarks.site import PLAIN, Site, site

TOKENS, RATE = 20_000, 200.0
ABOVE = 150  # questions, each with its answer
LENGTHEN = """
from agentweb.runs.models import Run
from tests.chat.views.talked import lengthen
lengthen(Run.objects.get(public_id={run!r}), {number})
"""


def measure(options: Options) -> list[Figure]:
    with site() as place:
        found = repeat(options, lambda: _once(place, options))
    details = found.summary("cpu s", "script s", "layout s", "bytes over text")
    return [
        at_most("B15 CPU", found.median("cpu s"), "s of the main thread", 8, None, details),
        at_most("B15 bytes", found.median("bytes over text"), "bytes for each of the text", 8),
    ]


def _once(place: Site, options: Options) -> Repetition:
    tokens = round((options.seconds or TOKENS / RATE) * RATE)
    program = place.program()
    conversation = program.converse(PLAIN)
    first = program.finish(program.send(conversation, "[[tokens=3 rate=0 ttft=0]]"))
    place.stack.manage("shell", "-c", LENGTHEN.format(run=first["id"], number=ABOVE))
    answer = held_back(place, conversation, tokens, RATE)
    with reader(place) as page:
        read = watch(page, place, answer, lambda: _bring_in(page))
    values = {
        "cpu s": read.cpu_s,
        "script s": read.script_s,
        "layout s": read.layout_s,
        "bytes over text": read.bytes_ratio,
    }
    return Repetition(values, noise(place.model_stats()["late_max_ms"]))


def _bring_in(page: Page) -> None:
    """Scroll up until all messages are there, then down to the end."""
    while (shown := page.locator(".run").count()) < ABOVE + 1:
        page.evaluate("scrollTo(0, 0)")
        page.wait_for_function("(shown) => document.querySelectorAll('.run').length > shown", arg=shown)
    page.evaluate("scrollTo(0, document.documentElement.scrollHeight)")
