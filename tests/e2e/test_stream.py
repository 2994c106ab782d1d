"""An answer on its way into the page, over connections that break, readers who look elsewhere and workers that die."""

import re
from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.e2e.chat_page import SLOW, Chat
from tests.e2e.program import Program
from tests.e2e.speech import Speech, saying
from tests.stack import Stack
from tests.waiting import until

STORY = "\n\n".join(f"## Part {part}\n\n" + "The river goes on, and so does the tale. " * 5 for part in range(1, 9))
KEEP_SOCKETS = """
    window.sockets = [];
    const Plain = WebSocket;
    window.WebSocket = class extends Plain { constructor(...a) { super(...a); sockets.push(this); } };
"""
FROM_THE_END = "document.scrollingElement.scrollHeight - innerHeight - scrollY"


def grown(chat: Chat, by: int = 20) -> None:
    """The answer has become longer than it is now."""
    length = len(chat.answer.inner_text())
    until(lambda: len(chat.answer.inner_text()) >= length + by, what="the answer grows")


def part(chat: Chat, number: int) -> None:
    expect(chat.answer).to_contain_text(f"Part {number}")


def test_an_answer_is_the_same_after_its_socket_broke_three_times(ann: Page, program: Callable[[str], Program]):
    ann.add_init_script(KEEP_SOCKETS)
    chat = Chat.open(ann, program("ann").converse("Echo"))
    chat.ask(saying(STORY, rate=20))
    chat.expect_words()
    for _ in range(3):
        grown(chat)
        ann.evaluate("sockets.at(-1).close()")
    chat.expect_finished()
    assert ann.evaluate("sockets.length") > 3
    expect(chat.answer.locator("h2")).to_have_text([f"Part {number}" for number in range(1, 9)])
    chat.expect_same_when_loaded_anew()


def test_a_reader_who_scrolls_up_stays_there_until_they_jump_back(echo: Chat, speech: Speech):
    page = echo.page
    page.set_viewport_size({"width": 800, "height": 400})
    echo.ask(speech.held(STORY, at="Part 5"))
    part(echo, 5)
    until(lambda: page.evaluate(FROM_THE_END) < 80, what="the page follows the end")
    page.mouse.move(400, 200)
    page.mouse.wheel(0, -5000)
    until(lambda: page.evaluate("scrollY") == 0, what="the page is scrolled")
    speech.go_on()
    part(echo, 8)
    echo.expect_finished()
    assert page.evaluate("scrollY") == 0
    echo.page.locator("#jump-latest button").click()
    until(lambda: page.evaluate(FROM_THE_END) < 80, what="the end is seen")
    expect(page.locator("#jump-latest")).to_be_hidden()


def test_the_words_of_a_killed_worker_are_kept_and_another_one_answers(echo: Chat, speech: Speech, stack: Stack):
    echo.ask(speech.held(STORY, at="Part 3"))
    part(echo, 3)
    stack.kill("worker-1")
    stack.start("worker-1")
    broken_off = echo.page.locator(".message.interrupted .body")
    expect(broken_off).to_have_count(1, timeout=2 * SLOW)
    expect(broken_off).to_contain_text("Part 3")
    expect(echo.page.locator(".message.assistant")).to_have_count(2)
    part(echo, 3)
    speech.go_on()
    echo.expect_finished()
    part(echo, 8)
    expect(broken_off).not_to_contain_text("Part 4")
    echo.expect_same_when_loaded_anew()


def test_signing_out_in_one_tab_sends_the_other_to_the_sign_in_page(context, sign_in, stack: Stack):
    page = context.new_page()
    sign_in(page, "ben")
    chat = Chat.begin(page, "Assistant", "What is the date today?")
    chat.expect_finished()
    elsewhere = context.new_page()
    elsewhere.goto(f"{stack.url}/accounts/logout/")
    elsewhere.locator("main button[type=submit]").click()
    expect(page).to_have_url(re.compile("/accounts/login/"))
