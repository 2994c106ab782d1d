"""A conversation of many pages: what is read stays in its place while more comes in above."""

import pytest
from playwright.sync_api import expect

from tests.e2e.chat_page import Chat
from tests.stack import Stack
from tests.waiting import until

LENGTHEN = """
from agentweb.runs.models import Message, Run
from tests.chat.views.talked import lengthen
lengthen(Run.objects.get(public_id={run!r}), 40)
Message.objects.filter(text="question 3!").update(text="Where is the harbour?")
"""
PLACE = "(run) => document.getElementById(run).getBoundingClientRect().top"
ALIKE = 2  # pixels: a page scrolls by whole ones, its parts do not end at them


@pytest.fixture
def long(echo: Chat, stack: Stack) -> Chat:
    """Forty questions and answers, of which the page shows the last fifteen."""
    echo.ask("question 0!")
    echo.expect_finished()
    stack.manage("shell", "-c", LENGTHEN.format(run=echo.run))
    echo.page.reload()
    expect(echo.page.locator(".run")).to_have_count(15)
    return echo


def test_older_messages_come_in_above_and_a_link_leads_far_up(long: Chat):
    page = long.page
    first = str(page.locator(".run").first.get_attribute("id"))
    top = page.evaluate(f"(run) => {{ scrollTo(0, 0); return ({PLACE})(run); }}", first)  # before anything is fetched
    expect(page.locator(".run")).to_have_count(30)
    until(lambda: abs(page.evaluate(PLACE, first) - top) < ALIKE)

    page.get_by_role("searchbox", name="Search conversations").fill("harbour")
    page.locator("#conversation-list .conversations a").filter(has=page.locator("mark")).first.click()
    expect(page.get_by_text("You are reading older messages.")).to_be_visible()
    expect(page.locator("[id^=message-]:target")).to_be_in_viewport()
    page.get_by_role("link", name="To the latest messages").click()
    expect(long.field).to_be_visible()
    expect(page.get_by_text("answer 39!")).to_be_in_viewport()
