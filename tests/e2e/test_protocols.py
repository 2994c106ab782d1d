"""How a model is told of tools does not show: the page of one that speaks in lines of text is like any other."""

import re

from playwright.sync_api import Page, expect

from tests.e2e.chat_page import Chat

MARKS = re.compile("Thought:|Action|Observation|Final Answer")


def test_a_model_that_speaks_in_lines_of_text_asks_and_answers_like_any_other(ann: Page):
    chat = Chat.begin(ann, "Liner", 'Write a file todo.md with "buy milk"')
    chat.expect_waiting()
    expect(chat.thoughts.first).to_have_text(re.compile(r"\S"))
    expect(chat.waiting.locator(".diff ins")).to_contain_text("buy milk")
    assert chat.approve_all() == 1
    chat.expect_finished()
    expect(chat.answer).to_contain_text("todo.md")
    assert not [line for line in chat.shown() if MARKS.search(line)]
    chat.expect_same_when_loaded_anew()
