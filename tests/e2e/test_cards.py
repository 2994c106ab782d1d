"""What runs wait for besides approvals: on a phone, each card is answered in the page, and its run goes on."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.chat_page import SLOW, Chat
from tests.e2e.conftest import Furniture
from tests.e2e.test_look import PHONE, WIDE, violations
from tests.stack import Stack

QUESTION = "div[id^=question-]"
DEAR = '[[call weather {"city": "Beijing"}]] [[say=50 rate=0 ttft=0 tokens=2]]'


@pytest.fixture(scope="module")
def waits(stack: Stack, furniture: Furniture) -> dict[str, str]:
    """Addresses of conversations: what waits for ann by its kind, and ``thrifty``, whose budget asks at once."""
    code = Path(__file__).with_name("waits.py").read_text()
    return dict(json.loads(stack.manage("shell", "-c", code).stdout.splitlines()[-1]))


@pytest.fixture
def phone(window: Callable[..., Page]) -> Page:
    return window("ann", **PHONE)


def look(page: Page) -> None:
    """The card is readable for everyone and fits the phone."""
    assert violations(page) == []
    assert page.evaluate(WIDE) <= 0


@pytest.mark.parametrize(
    ("name", "field", "button", "words"),
    [
        ("unknown", "What the tool would have said", "It was done", "It was done · ann"),
        ("suspended", "The result, which the agent reads", "Give the result", "Result given · ann"),
    ],
)
def test_people_say_what_no_tool_can_say_any_more(
    phone: Page, waits: dict[str, str], name: str, field: str, button: str, words: str
):
    phone.goto(waits[name])
    chat = Chat(phone)
    card = chat.calls.last
    look(phone)
    card.get_by_label(field).fill("Paris")
    card.get_by_role("button", name=button).click()
    expect(card).to_contain_text(words)
    chat.expect_finished()
    chat.expect_words()


def test_a_run_in_circles_goes_on_when_people_say_so(phone: Page, waits: dict[str, str]):
    phone.goto(waits["circles"])
    card = phone.locator(QUESTION)
    look(phone)
    card.get_by_label("Comment").fill("Once more")
    card.get_by_role("button", name="Let it go on").click()
    expect(card).to_contain_text("Goes on · ann")
    expect(phone.locator(".message.assistant")).to_have_count(2, timeout=SLOW)
    Chat(phone).expect_words()


def test_a_run_whose_budget_is_nearly_spent_gets_more(phone: Page, waits: dict[str, str]):
    phone.goto(waits["thrifty"])
    phone.locator("#composer-text").fill(DEAR)
    phone.get_by_role("button", name="Send", exact=True).click()
    card = phone.locator(QUESTION)
    expect(card).to_contain_text("Of the budget “A day”", timeout=SLOW)
    look(phone)
    card.get_by_label("More tokens").fill("20000")
    card.get_by_role("button", name="Go on with so much more").click()
    expect(card).to_contain_text("Goes on · 20,000 tokens more · ann")
    Chat(phone).expect_finished()


def test_a_run_that_ended_at_its_limit_is_continued(ann: Page):
    chat = Chat.begin(ann, "Hasty", "What is the date today?")
    chat.expect_finished("Not finished: limit reached")
    before = chat.run
    chat.button("Continue with 1 more turn").click()
    expect(ann.locator(".run")).to_have_count(2)
    chat.expect_finished()
    assert chat.run != before
