"""What becomes of a conversation behind its answers: found again, copied, put away."""

from playwright.sync_api import expect

from tests.e2e.chat_page import Chat
from tests.e2e.speech import saying


def test_an_answer_is_copied_found_by_its_words_and_put_away(echo: Chat):
    page = echo.page
    echo.ask(saying("The **harbour** of <b>Yalta</b> is closed."))
    echo.expect_finished()
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    echo.button("Copy").click()
    expect(page.locator("#live-status")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()") == "The harbour of <b>Yalta</b> is closed."

    found = page.locator("#conversation-list .conversations a")
    page.get_by_role("searchbox", name="Search conversations").fill("of <b>YALTA")
    expect(found.locator("mark").first).to_have_text("of")
    expect(found).to_have_count(1)
    expect(found).to_have_attribute("aria-current", "page")

    page.locator("summary", has_text="Conversation menu").click()
    echo.button("Archive").click()
    expect(page.get_by_role("status").filter(has_text="archived")).to_be_visible()
    page.locator(".filters").get_by_text("Archived").click()
    expect(found.filter(has_text="Yalta").first).to_be_visible()
