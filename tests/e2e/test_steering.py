"""Cancelling, stopping, and messages that are written while the agent works."""

from collections.abc import Callable
from datetime import datetime

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.chat_page import Chat
from tests.e2e.program import Program
from tests.waiting import at_once

AT_ONCE = 1.0
"""Seconds from the click to the end of the run on record."""

DIGGING = '[[call dig {"seconds": 110, "until": "enough"}]]'
WORKING = {
    "before the first word": "[[ttft=60]]",
    "in mid-stream": "[[tokens=2000 rate=30 ttft=0]]",
    "in a tool": DIGGING,
}


@pytest.fixture
def told(program: Callable[[str], Program]) -> Program:
    return program("ann")


def at_work(chat: Chat, told: Program, moment: str) -> None:
    chat.ask(WORKING[moment])
    if moment == "in mid-stream":
        chat.expect_words()
    elif moment == "in a tool":
        expect(chat.calls.locator(".progress-line")).to_contain_text("dug")
    else:
        expect(chat.state.locator("strong")).to_have_text("Thinking…")


def seconds_to_cancel(chat: Chat, told: Program, moment: str) -> float:
    """From the click, as the page hears it, to the end on record."""
    at_work(chat, told, moment)
    chat.page.evaluate(
        "addEventListener('click', () => (window.clickedAt = Date.now()), { capture: true, once: true })"
    )
    chat.button("Cancel").click()
    chat.expect_finished("Cancelled")
    (end,) = (each for each in told.events(chat.run) if each["kind"] == "RunFinished")
    return datetime.fromisoformat(end["at"]).timestamp() - float(chat.page.evaluate("clickedAt")) / 1000


@pytest.mark.parametrize("moment", WORKING)
def test_cancel_takes_effect_within_a_second(moment: str, echo: Chat, told: Program):
    at_once(lambda: seconds_to_cancel(echo, told, moment), AT_ONCE)
    expect(echo.button("Cancel")).to_have_count(0)
    echo.expect_same_when_loaded_anew()
    echo.ask("[[tokens=1 ttft=0 rate=0]]")
    echo.expect_finished()


def test_a_message_to_a_working_agent_waits_and_is_delivered_before_its_next_step(echo: Chat, told: Program):
    at_work(echo, told, "in a tool")
    echo.send("[[tokens=3 rate=0 ttft=0]] deeper")
    queue = echo.state.locator(".queue li")
    expect(queue).to_contain_text("Next, before the agent goes on")
    expect(queue).to_contain_text("deeper")
    expect(echo.field).to_have_value("")
    told.put(echo.conversation, "enough", "")
    echo.expect_finished()
    expect(queue).to_have_count(0)
    expect(echo.page.locator(".message.user").last).to_contain_text("deeper")
    kinds = told.kinds(echo.run)
    assert kinds.index("SteeringTaken") > kinds.index("ToolFinished")
    echo.expect_same_when_loaded_anew()


def test_a_message_for_later_is_delivered_when_the_run_would_end(echo: Chat, told: Program):
    at_work(echo, told, "in a tool")
    echo.send("[[tokens=3 rate=0 ttft=0]] and then this", key="Control+Enter")
    expect(echo.state.locator(".queue li")).to_contain_text("After the agent has finished")
    told.put(echo.conversation, "enough", "")
    echo.expect_finished()
    expect(echo.page.locator(".message.user").last).to_contain_text("and then this")
    assert told.kinds(echo.run).count("FollowUpTaken") == 1
    assert echo.page.locator(".run").count() == 1
    echo.expect_same_when_loaded_anew()


def test_a_waiting_message_may_be_changed_taken_back_and_comes_back_on_cancel(echo: Chat):
    echo.ask(DIGGING)
    expect(echo.calls.locator(".progress-line")).to_contain_text("dug")
    echo.send("first")
    queue = echo.state.locator(".queue li")
    expect(queue).to_contain_text("first")
    echo.send("second")
    expect(queue).to_have_count(2)
    second = echo.in_another_tab()
    second.button("Remove", second.state.locator(".queue li", has_text="first")).click()
    expect(queue).to_have_count(1)
    queue.locator("summary").click()
    queue.locator("textarea").fill("second, changed")
    echo.button("Save", queue).click()
    expect(queue.locator(".queue-text")).to_have_text("second, changed")
    echo.button("Cancel").click()
    echo.expect_finished("Cancelled")
    expect(queue).to_contain_text("Not delivered")
    queue.get_by_role("button", name="Put back into the message field").click()
    expect(echo.field).to_have_value("second, changed")


def test_a_run_may_be_stopped_after_the_tools_of_this_turn(echo: Chat, told: Program):
    at_work(echo, told, "in a tool")
    echo.state.locator("summary", has_text="Stop later").click()
    echo.button("After the tools of this turn").click()
    expect(echo.state).to_contain_text("The run stops after the tools of this turn.")
    told.put(echo.conversation, "enough", "")
    echo.expect_finished("Stopped")
    assert told.kinds(echo.run).count("ToolFinished") == 1
    expect(echo.calls.locator(".state").first).to_have_text("Done")


def test_a_message_sent_by_another_member_appears_with_their_name(
    window: Callable[..., Page], told: Program, program: Callable[[str], Program]
):
    conversation = told.converse("Echo", visibility="team")
    mine = Chat.open(window("ann"), conversation)
    program("ben").send(conversation, "[[tokens=2 rate=0 ttft=0]] from me")
    expect(mine.page.locator(".message.user")).to_contain_text("from me")
    expect(mine.page.locator(".message.user .who")).to_have_text("ben")
    mine.expect_finished()
    expect(mine.page.locator("#empty-log")).to_have_count(0)
