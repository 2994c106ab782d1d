"""An answer on its way into the page, over connections and processes that break."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page, expect

from tests.stack import Stack, stack_on

LONG = "Write a long text of 300 words about rivers"
BODIES = ".message.assistant .body"
FINISHED = '.run-state[data-status="finished"]'
KEEP_SOCKETS = """
    window.sockets = [];
    const Plain = WebSocket;
    window.WebSocket = class extends Plain { constructor(...a) { super(...a); sockets.push(this); } };
"""


def begin(page: Page, text: str) -> None:
    """Ask in a new conversation and wait for the first words of the answer."""
    page.goto("/")
    page.locator('form[action$="/c/"] button').first.click()
    page.wait_for_url(re.compile("/c/[0-9a-f-]+/$"))
    ask(page, text)


def ask(page: Page, text: str) -> None:
    page.locator("#composer-text").fill(text)
    page.locator("#composer-text").press("Enter")
    expect(page.locator('.message.assistant[aria-busy="true"] .block').first).to_be_visible(timeout=20_000)


def grown(page: Page, by: int = 40) -> None:
    """The answer has become longer than it is now."""
    answer = page.locator(BODIES).last
    length = len(answer.inner_text())
    page.wait_for_function(
        "([selector, length]) => [...document.querySelectorAll(selector)].at(-1).innerText.length > length",
        arg=[BODIES, length + by],
    )


def finished(page: Page) -> Locator:
    expect(page.locator(FINISHED)).to_have_count(1, timeout=60_000)
    expect(page.locator('.message[aria-busy="true"]')).to_have_count(0)
    return page.locator(BODIES).last


def is_as_stored(page: Page) -> None:
    shown = finished(page).inner_html()
    page.reload()
    assert page.locator(BODIES).last.inner_html() == shown


def test_an_answer_is_the_same_after_its_socket_broke_three_times(page: Page, sign_in):
    page.add_init_script(KEEP_SOCKETS)
    sign_in(page, "ann")
    begin(page, LONG)
    for _ in range(3):
        grown(page)
        page.evaluate("sockets.at(-1).close()")
    assert page.evaluate("sockets.length") >= 3
    is_as_stored(page)


def test_two_tabs_of_one_conversation_show_the_same_and_another_conversation_nothing_of_it(context, sign_in):
    one = context.new_page()
    sign_in(one, "ann")
    begin(one, LONG)
    grown(one)
    late, other = context.new_page(), context.new_page()
    late.goto(one.url)
    begin(other, "What is the date today?")
    assert finished(late).inner_html() == finished(one).inner_html()
    assert "river" not in other.locator("#log").inner_text().lower()


def test_a_reader_who_scrolls_up_stays_there_until_they_jump_back(page: Page, sign_in):
    page.set_viewport_size({"width": 800, "height": 400})
    sign_in(page, "ann")
    begin(page, LONG)
    page.wait_for_function("() => document.scrollingElement.scrollHeight > innerHeight + 200")
    page.mouse.move(400, 200)
    page.mouse.wheel(0, -5000)
    page.wait_for_function("() => scrollY === 0")
    grown(page, 200)
    assert page.evaluate("scrollY") == 0
    page.locator("#jump-latest button").click()
    grown(page, 100)
    assert page.evaluate("document.scrollingElement.scrollHeight - innerHeight - scrollY") < 80
    expect(page.locator("#jump-latest")).to_be_hidden()


def test_signing_out_in_one_tab_sends_the_other_to_the_sign_in_page(context, sign_in):
    page = context.new_page()
    sign_in(page, "ben")
    begin(page, "What is the date today?")
    finished(page)
    elsewhere = context.new_page()
    elsewhere.goto("/accounts/logout/")
    elsewhere.locator("main button[type=submit]").click()
    expect(page).to_have_url(re.compile("/accounts/login/"), timeout=5_000)


def test_cancel_ends_an_answer_within_a_second(page: Page, sign_in):
    sign_in(page, "ann")
    begin(page, LONG)
    page.locator(".run-state form[action$='/cancel'] button").click()
    expect(page.locator(FINISHED)).to_have_count(1, timeout=2_000)
    length = len(page.locator(BODIES).last.inner_text())
    assert 0 < length < 1500


@pytest.fixture
def own_stack(tmp_path: Path, own_database_url: str) -> Iterator[Stack]:
    with stack_on(tmp_path / "own", own_database_url) as running:
        running.begin()
        yield running


@pytest.fixture
def own_page(own_stack: Stack, browser: Browser) -> Iterator[Page]:
    """A page of ann's on processes that the test may end."""
    context = browser.new_context(base_url=own_stack.url)
    page = context.new_page()
    page.goto("/accounts/login/")
    page.locator("[name=login]").fill("ann")
    page.locator("[name=password]").fill(own_stack.passwords["ann"])
    page.locator("[name=password]").press("Enter")
    page.wait_for_url(f"{own_stack.url}/")
    yield page
    context.close()


@pytest.mark.parametrize("process", ["web", "valkey"])
def test_an_answer_goes_on_over_the_end_of_a_process(own_page: Page, own_stack: Stack, process: str):
    begin(own_page, LONG)
    grown(own_page)
    own_stack.kill(process)
    own_stack.start(process)
    is_as_stored(own_page)


def test_the_words_of_a_killed_worker_are_kept_and_another_one_answers(own_page: Page, own_stack: Stack):
    begin(own_page, LONG)
    grown(own_page, 100)
    own_stack.kill("worker-1")
    kept = own_page.locator(BODIES).first.inner_text()[:100]
    own_stack.start("worker-2")
    expect(own_page.locator(".message.interrupted")).to_have_count(1, timeout=30_000)
    assert kept in own_page.locator(".message.interrupted .body").inner_text()
    expect(own_page.locator(".message.assistant.finished")).to_have_count(1, timeout=60_000)
    is_as_stored(own_page)
