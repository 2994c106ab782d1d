"""Writing: Enter, input methods, drafts, and what is said about a message that cannot be taken."""

from collections.abc import Callable

from playwright.sync_api import Page, expect

from tests.e2e.chat_page import Chat
from tests.e2e.program import Program

QUICK = "[[tokens=1 rate=0 ttft=0]]"


def test_enter_that_ends_a_composition_does_not_send(echo: Chat):
    echo.field.click()
    keyboard = echo.page.context.new_cdp_session(echo.page)
    enter = {"key": "Enter", "code": "Enter", "windowsVirtualKeyCode": 229}
    keyboard.send("Input.imeSetComposition", {"text": "nihao", "selectionStart": 5, "selectionEnd": 5})
    keyboard.send("Input.dispatchKeyEvent", {"type": "rawKeyDown", **enter})
    keyboard.send("Input.dispatchKeyEvent", {"type": "keyUp", **enter})
    keyboard.send("Input.insertText", {"text": "你好"})
    expect(echo.field).to_have_value("你好")
    expect(echo.page.locator(".run")).to_have_count(0)
    echo.field.press("Shift+Enter")
    expect(echo.field).to_have_value("你好\n")
    echo.field.type(QUICK)
    echo.field.press("Enter")
    expect(echo.page.locator(".message.user .body")).to_have_text(f"你好\n{QUICK}")
    expect(echo.field).to_have_value("")
    echo.expect_finished()


def test_safari_says_by_a_number_that_enter_belongs_to_the_input_method(echo: Chat):
    echo.field.fill("not yet")
    echo.field.evaluate(
        "field => field.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', keyCode: 229, bubbles: true}))"
    )
    echo.field.press("Shift+Enter")
    expect(echo.field).to_have_value("not yet\n")
    expect(echo.page.locator(".run")).to_have_count(0)


def test_what_was_typed_is_still_there_after_a_reload_and_not_in_another_conversation(
    echo: Chat, program: Callable[[str], Program]
):
    echo.field.fill("half a thought")
    own = echo.page.url
    echo.page.reload()
    expect(echo.field).to_have_value("half a thought")
    echo.page.goto(f"/c/{program('ann').converse('Echo')}/")
    expect(echo.field).to_have_value("")
    echo.page.goto(own)
    expect(echo.field).to_have_value("half a thought")
    echo.ask(QUICK)
    echo.page.reload()
    expect(echo.field).to_have_value("")


def test_an_empty_message_is_not_sent_and_a_far_too_long_one_is_refused_and_kept(echo: Chat, watch):
    watch.expect("the server responded with a status of 4")
    echo.field.press("Enter")
    echo.field.fill("   ")
    echo.field.press("Enter")
    expect(echo.page.locator(".run")).to_have_count(0)
    long = "x" * 100_001
    echo.field.evaluate("(field, text) => { field.removeAttribute('maxlength'); field.value = text; }", long)
    echo.field.press("Enter")
    expect(echo.page.locator("#composer-problem")).to_contain_text("longer than 100000 characters")
    assert echo.field.input_value() == long
    echo.field.fill(QUICK)
    echo.field.press("Enter")
    echo.expect_finished()
    expect(echo.page.locator("#composer-problem")).to_have_text("")


def test_without_a_server_the_text_stays_and_is_sent_once_when_it_is_back(echo: Chat, watch):
    watch.expect("ERR_INTERNET_DISCONNECTED", "WebSocket", "Failed to fetch")
    echo.page.context.set_offline(True)
    echo.send(f"{QUICK} kept")
    expect(echo.page.locator(".toast")).to_contain_text("What you typed is kept.")
    expect(echo.field).to_have_value(f"{QUICK} kept")
    echo.page.context.set_offline(False)
    echo.field.press("Enter")
    echo.expect_finished()
    expect(echo.page.locator(".message.user")).to_have_count(1)


def test_a_message_in_arabic_runs_from_right_to_left_and_code_in_it_does_not(echo: Chat):
    echo.field.fill("مرحبا بالعالم")
    assert echo.field.evaluate("field => getComputedStyle(field).direction") == "rtl"
    echo.ask(r'[[rate=0 ttft=0]] [[text "مرحبا بالعالم\n\n```\nprint(1)\n```"]]')
    echo.expect_finished()
    direction = "part => getComputedStyle(part).direction"
    assert echo.answer.locator("p").evaluate(direction) == "rtl"
    assert echo.answer.locator("pre").evaluate(direction) == "ltr"


def test_the_title_is_the_first_message_and_can_be_changed(echo: Chat, ann: Page):
    echo.ask(f"{QUICK} about rivers")
    expect(ann.locator("#conversation-title")).to_contain_text("about rivers")
    expect(ann.locator("#conversation-list [aria-current=page]")).to_contain_text("about rivers")
    ann.locator("summary", has_text="Conversation menu").click()
    ann.get_by_label("Title").fill("Rivers & <lakes>")
    echo.button("Rename").click()
    expect(ann.locator("#conversation-title")).to_have_text("Rivers & <lakes>")
    expect(ann).to_have_title("Rivers & <lakes> · agentweb")
