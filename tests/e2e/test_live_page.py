"""What happens appears by itself, in every tab, and is the same after a reload and over restarts."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.chat_page import Chat
from tests.e2e.program import Program
from tests.e2e.speech import SAMPLE, Speech, saying
from tests.stack import Stack

BLOCKS = 7
"""Of the sample, when it is rendered."""


def test_thoughts_tools_an_approval_words_and_totals_appear_without_a_reload(
    ann: Page, program: Callable[[str], Program]
):
    chat = Chat.open(ann, program("ann").converse("Builder"))
    ann.evaluate("document.body.dataset.sinceLoad = 'yes'")
    chat.ask("Make the TypeScript configuration strict")
    expect(chat.thoughts.first).to_have_text("Is there a TypeScript configuration?")
    expect(chat.calls.first.locator(".state").first).to_have_text("Done")
    chat.expect_waiting()
    expect(chat.state.locator("strong")).to_have_text("Waiting for approval")
    expect(chat.totals).to_contain_text("2 model calls")
    chat.approve_all()
    expect(chat.answer).to_contain_text("Expect new compiler errors")
    chat.expect_finished()
    expect(chat.totals).to_contain_text("4 tool calls")
    assert ann.evaluate("document.body.dataset.sinceLoad") == "yes"
    chat.expect_same_when_loaded_anew()


def test_a_working_tool_says_how_far_it_is(echo: Chat, program: Callable[[str], Program]):
    echo.ask('[[call dig {"seconds": 100, "until": "enough"}]] [[tokens=1]]')
    expect(echo.calls.locator(".progress-line")).to_have_text(re.compile(r"dug \d+ of 1000"))
    expect(echo.calls.locator("progress")).to_be_visible()
    expect(echo.state.locator("strong")).to_have_text("Running tool: Dig…")
    program("ann").put(echo.conversation, "enough", "")
    echo.expect_finished()
    expect(echo.calls.locator(".progress-line")).to_be_hidden()
    echo.expect_same_when_loaded_anew()


def test_a_reload_and_a_second_tab_in_mid_stream_show_the_same_in_the_end(echo: Chat, speech: Speech):
    echo.ask(speech.held(SAMPLE, at="def add"))
    expect(echo.answer.locator("pre")).to_contain_text("def")
    second = echo.in_another_tab()
    expect(second.answer.locator("pre")).to_contain_text("def")
    echo.page.reload()
    expect(echo.answer.locator("pre")).to_contain_text("def")
    expect(echo.state).to_have_attribute("data-live", "true")
    speech.go_on()
    for chat in (echo, second):
        chat.expect_finished()
        expect(chat.answer.locator(".block")).to_have_count(BLOCKS)
        expect(chat.answer).to_contain_text("the last words.")
        chat.expect_same_when_loaded_anew()


def test_a_reload_and_a_second_tab_show_the_call_that_waits_and_hear_its_decision(echo: Chat):
    echo.ask('[[call write_file {"path": "a.txt", "content": "words\\n"}]] [[tokens=2 rate=0]]')
    echo.expect_waiting()
    echo.expect_same_when_loaded_anew()
    before = echo.shown()
    echo.page.reload()
    assert echo.shown() == before
    second = echo.in_another_tab()
    assert second.shown() == before
    second.approve_all()
    echo.expect_finished()
    expect(echo.page.locator(".decided")).to_contain_text("ann")
    echo.expect_same_when_loaded_anew()


def test_conversations_in_two_tabs_do_not_mix(echo: Chat, program: Callable[[str], Program]):
    other = Chat.open(echo.page.context.new_page(), program("ann").converse("Echo"))
    echo.ask(saying("the first conversation " * 20, rate=40))
    other.ask(saying("the second conversation " * 20, rate=40))
    for chat, own, foreign in ((echo, "first", "second"), (other, "second", "first")):
        chat.expect_words()
        chat.expect_finished()
        expect(chat.answer).to_have_text(" ".join([f"the {own} conversation"] * 20))
        expect(chat.log).not_to_contain_text(foreign)


@pytest.mark.parametrize("process", ["web", "valkey"])
def test_a_restart_in_the_middle_of_an_answer_loses_and_doubles_nothing(
    process: str, echo: Chat, speech: Speech, stack: Stack, watch
):
    watch.expect("ERR_CONNECTION", "WebSocket", "503", "500", "ERR_EMPTY_RESPONSE", "Failed to fetch")
    echo.ask(speech.held(SAMPLE, at="def add"))
    expect(echo.answer.locator("pre")).to_contain_text("def")
    stack.kill(process)
    stack.start(process)
    speech.go_on()
    stack.wait_until_ready()
    echo.expect_finished()
    expect(echo.answer.locator("h1")).to_have_count(1)
    expect(echo.answer.locator(".block")).to_have_count(BLOCKS)
    expect(echo.answer).to_contain_text("the last words.")
    echo.expect_same_when_loaded_anew()
