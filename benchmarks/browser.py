"""A real browser that watches one long answer: what its main thread works, what comes, and how late words are shown."""

import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from playwright.sync_api import Page, sync_playwright

from benchmarks.site import Site
from tests import chromium

LOOK_EACH_MS = 250
WATCH = """(each) => {
  const late = (window.late = []), token = /(\\d+)@(\\d{16})/g;
  window.looking = setInterval(() => {
    const body = [...document.querySelectorAll(".message.assistant .body")].at(-1);
    const end = body?.lastElementChild?.textContent.slice(-200) ?? "";
    const last = [...end.matchAll(token)].at(-1);
    if (last) late.push([Number(last[1]), Date.now() - Number(last[2]) / 1000]);
  }, each);
}"""
"""How old the newest word on the page is, again and again: reading the end of the last block costs next to nothing."""
SHOWN = """() => (
  [...document.querySelectorAll(".message.assistant .body")].at(-1).textContent.match(/\\d+@\\d{16}/g) ?? []).length"""


@dataclass(frozen=True)
class Answer:
    """One that waits at the model server for its key, to be written into a conversation."""

    conversation: str
    run: str
    key: str
    tokens: int
    rate: float

    @property
    def text_bytes(self) -> int:
        """About: a number, the moment, and what dresses them."""
        return self.tokens * 23


@dataclass(frozen=True)
class Read:
    """``cpu_s``: work of the main thread; ``late_s``: the age of the newest word whenever the page was looked at, in
    order, while more were to come. ``bytes_ratio``: what came over the socket over the text."""

    cpu_s: float
    script_s: float
    layout_s: float
    bytes_ratio: float
    late_s: list[float]


@contextmanager
def reader(site: Site) -> Iterator[Page]:
    """A tab of a person who is signed in, of the size of a laptop's screen."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium.find_or_install(), args=chromium.ARGUMENTS)
        try:
            context = browser.new_context(viewport={"width": 1280, "height": 800}, base_url=site.stack.url)
            name, _equals, value = site.session().partition("=")
            context.add_cookies([{"name": name, "value": value, "url": site.stack.url}])
            yield context.new_page()
        finally:
            browser.close()


def watch(page: Page, site: Site, answer: Answer, prepare: Callable[[], None] = lambda: None) -> Read:
    """Open the conversation, ``prepare`` the page, let the answer begin, and count until its run has ended there."""
    received: list[int] = []
    page.on("websocket", lambda socket: socket.on("framereceived", lambda frame: received.append(len(frame))))
    page.goto(f"/c/{answer.conversation}/")
    state = f"#run-{answer.run} .run-state"
    page.locator(f"{state}[data-status=running]").wait_for()
    prepare()
    tools = page.context.new_cdp_session(page)
    tools.send("Performance.enable", {"timeDomain": "threadTicks"})  # CPU, not time in which others work
    page.evaluate(WATCH, LOOK_EACH_MS)
    before, received[:] = _metrics(tools), []
    site.reset_model()
    site.model.post(f"{site.model_root}/go/{answer.key}", timeout=60).raise_for_status()
    page.locator(f"{state}[data-status=finished]").wait_for(timeout=60_000 + 3_000 * answer.tokens / answer.rate)
    after = _metrics(tools)
    late = page.evaluate("() => { clearInterval(looking); return late; }")
    spent = {name: after[name] - before[name] for name in after}
    shown = page.evaluate(SHOWN)
    assert shown == answer.tokens, f"{shown} of {answer.tokens} tokens are on the page"
    return Read(
        spent["TaskDuration"],
        spent["ScriptDuration"],
        spent["LayoutDuration"] + spent["RecalcStyleDuration"],
        sum(received) / answer.text_bytes,
        [ms / 1000 for number, ms in late if number < answer.tokens - 1],
    )


def _metrics(tools: object) -> dict[str, float]:
    told = tools.send("Performance.getMetrics")["metrics"]  # type: ignore[attr-defined]
    wanted = re.compile(r"(Task|Script|Layout|RecalcStyle)Duration")
    return {each["name"]: each["value"] for each in told if wanted.fullmatch(each["name"])}


def held_back(site: Site, conversation: str, tokens: int, rate: float) -> Answer:
    """Ask for a markdown answer that waits until it is wanted."""
    key = f"{conversation}-{time.time_ns()}"
    asked = f"Speak. [[tokens={tokens} rate={rate:g} markdown=1 ttft=0 stall=0 for=600 key={key}]]"
    return Answer(conversation, site.program().send(conversation, asked), key, tokens, rate)
