"""One conversation in one tab of a browser, as a person reads and works it."""

import re
from contextlib import suppress

from playwright.sync_api import Locator, Page, expect

from tests.waiting import until

SLOW = 30_000
"""Milliseconds for what takes a run some steps."""

_SHOWN = """() => {
const ageless = (card) => { // how long ago something was seen depends on when one looks
  const copy = card.cloneNode(true);
  for (const time of copy.querySelectorAll("time[data-age]")) time.remove();
  return copy.textContent;
};
return [...document.querySelectorAll("#log .run")].flatMap((run) => [
  ...[...run.querySelectorAll(".entries > :not(.steps), .steps > :not(summary)")].flatMap((each) => [
    `${each.id} ${each.className.trim()} ${each.hidden ? "hidden" : ""}`,
    ...(each.matches(".message")
      ? [each.querySelector(".thinking-text")?.textContent ?? "", each.querySelector(".body").innerHTML.trim()]
      : ageless(each).split(/\\s*\\n\\s*/)),
  ]),
  `${run.id} ${run.querySelector(".run-state").innerText}`,
])}"""
"""Everything in the log, line by line, so that a difference is seen at a glance."""


class Chat:
    """``page`` shows the conversation; words are those of the English interface."""

    def __init__(self, page: Page) -> None:
        self.page = page
        self.log = page.locator("#log")
        self.field = page.locator("#composer-text")
        self.state = page.locator(".run-state").last
        self.totals = self.state.locator(".totals")
        self.answer = page.locator(".message.assistant .body").last
        self.thoughts = page.locator(".message.assistant .thinking-text")
        self.calls = page.locator(".call")
        self.waiting = page.locator(".approval.pending")

    @classmethod
    def begin(cls, page: Page, agent: str, text: str, *, shared: bool = False) -> "Chat":
        """From the first page: choose the agent, write, start."""
        page.goto("/")
        page.locator(".agent label").filter(has=page.locator(f".name:text-is('{agent}')")).click()
        page.locator("[name=visibility]").set_checked(shared)
        page.locator("#composer-text").fill(text)
        page.locator("#composer-send").click()
        page.wait_for_url(re.compile("/c/[0-9a-f-]{36}/"))
        return cls(page)

    @classmethod
    def open(cls, page: Page, conversation: str) -> "Chat":
        page.goto(f"/c/{conversation}/")
        return cls(page)

    def in_another_tab(self) -> "Chat":
        return Chat.open(self.page.context.new_page(), self.conversation)

    @property
    def conversation(self) -> str:
        return self.page.url.split("/c/")[1][:36]

    @property
    def run(self) -> str:
        """The id of the last run on the page."""
        return str(self.page.locator(".run").last.get_attribute("data-run"))

    def send(self, text: str, key: str = "Enter") -> None:
        self.field.fill(text)
        self.field.press(key)

    def ask(self, text: str) -> None:
        """Send a message that begins a run, and wait until its run is on the page."""
        before = self.page.locator(".run").count()
        self.send(text)
        expect(self.page.locator(".run")).to_have_count(before + 1)

    def expect_finished(self, word: str = "Answered") -> None:
        expect(self.state).to_have_attribute("data-status", "finished")
        expect(self.state.locator("strong")).to_have_text(word)

    def expect_waiting(self, count: int = 1) -> None:
        expect(self.waiting).to_have_count(count)

    def expect_words(self) -> None:
        """Something of the answer is there."""
        expect(self.answer).to_contain_text(re.compile(r"\S"))

    def button(self, name: str, within: Locator | None = None) -> Locator:
        return (within or self.page).get_by_role("button", name=name, exact=True)

    def approve_all(self) -> int:
        """Approve what waits until the run has ended; how many calls were asked about."""
        decided: set[str] = set()
        while True:
            until(lambda: self._ended() or self.waiting.count() > 0, SLOW / 1000, "the run ends or asks")
            if self.waiting.count() == 0:
                return len(decided)
            card = self.page.locator(f"#{self.waiting.first.get_attribute('id')}")
            decided.add(str(card.get_attribute("id")))
            self.button("Approve", card).click()
            expect(card).not_to_have_class(re.compile("pending"))

    def _ended(self) -> bool:
        return self.state.count() > 0 and self.state.get_attribute("data-status") == "finished"

    def shown(self) -> list[str]:
        """All that the log shows, in a form that can be compared with another view of the same conversation."""
        return list(self.page.evaluate(_SHOWN))

    def expect_same_when_loaded_anew(self) -> None:
        """What came over the socket is what the server gives to a fresh tab."""
        fresh = self.in_another_tab()
        expected = fresh.shown()
        fresh.page.close()
        with suppress(AssertionError):
            until(lambda: self.shown() == expected, seconds=60)
        assert self.shown() == expected
