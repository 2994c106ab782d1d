"""The inbox in the browser: by keys, and beside somebody else who decides."""

from playwright.sync_api import expect

from tests.e2e.chat_page import Chat
from tests.e2e.test_approvals import writing


def test_keys_lead_through_the_inbox_and_what_others_decide_is_seen_in_place(echo: Chat):
    echo.ask(writing("keys.txt"))
    echo.expect_waiting()
    inbox = echo.page.context.new_page()
    inbox.goto("/approvals/")
    card = inbox.locator(".approval.pending").filter(has_text="keys.txt")
    expect(card).to_have_count(1)
    inbox.keyboard.press("?")
    expect(inbox.locator("#inbox-keys")).to_be_visible()
    inbox.keyboard.press("Escape")
    for _each in range(inbox.locator(".approval.pending").count()):
        inbox.keyboard.press("j")
        if card.evaluate("card => card.contains(document.activeElement)"):
            break
    inbox.keyboard.press("a")
    expect(card.get_by_role("button", name="Approve", exact=True)).to_be_focused()
    inbox.keyboard.press("r")
    expect(card.get_by_label("Reason, which the agent reads")).to_be_focused()
    inbox.keyboard.type("jam")  # letters in a field are letters
    expect(card.get_by_label("Reason, which the agent reads")).to_have_value("jam")

    echo.approve_all()
    inbox.evaluate("dispatchEvent(new Event('inbox'))")
    expect(inbox.locator(".approval").filter(has_text="Approved")).to_have_count(1)
    inbox.close()
