"""Deciding about a call in the browser: every way, by whom, how often and how late."""

import json
import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.e2e.chat_page import Chat
from tests.e2e.program import Program

REFUSED = "the server responded with a status of 4"


def calling(name: str, **arguments: object) -> str:
    """What to ask Echo to have it call a tool once and then say two words."""
    return f"[[call {name} {json.dumps(arguments)}]] [[tokens=2 rate=0 ttft=0]]"


def writing(path: str = "a.txt", content: str = "as asked\n") -> str:
    return calling("write_file", path=path, content=content)


@pytest.fixture
def told(program: Callable[[str], Program]) -> Program:
    return program("ann")


@pytest.fixture
def asked(echo: Chat) -> Chat:
    """Echo waits for a decision about writing a.txt."""
    echo.ask(writing())
    echo.expect_waiting()
    return echo


def result(told: Program, chat: Chat) -> str:
    """What the model was told about the only call."""
    (call,) = told.get(f"/runs/{chat.run}/calls")["items"]
    return str(call["result"])


def decisions(told: Program, chat: Chat) -> int:
    return told.kinds(chat.run).count("ApprovalDecided")


def open_form(chat: Chat) -> Locator:
    chat.page.get_by_role("link", name="Modify…").click()
    form = chat.page.locator("form.modify")
    expect(form).to_be_visible()
    return form


def test_the_card_says_what_will_happen_and_shows_the_file(asked: Chat):
    expect(asked.waiting).to_contain_text("Medium")
    expect(asked.waiting.get_by_role("heading")).to_have_text("Approval wanted: Write file")
    expect(asked.waiting.locator(".effect")).to_contain_text("a.txt")
    expect(asked.waiting.locator(".diff ins")).to_contain_text("as asked")
    expect(asked.page.get_by_text("The agent waits for a decision. Enter:")).to_be_visible()
    expect(asked.page.get_by_text("The agent is at work. Enter:")).to_be_hidden()


def test_changed_arguments_are_checked_shown_and_run(asked: Chat, told: Program, watch):
    watch.expect(REFUSED)
    form = open_form(asked)
    form.get_by_label("Path").fill("")
    form.get_by_label("Content").fill("as typed\n")
    asked.button("Show the changes", form).click()
    expect(form.get_by_label("Path")).to_have_attribute("aria-invalid", "true")
    expect(form.locator(".field", has=asked.page.get_by_label("Path")).locator(".error-text")).to_be_visible()
    expect(form.get_by_label("Content")).to_have_value("as typed\n")
    form.get_by_label("Path").fill("b.txt")
    asked.button("Show the changes", form).click()
    changes = asked.page.locator(".changed").last
    expect(changes.locator("del", has_text="a.txt")).to_be_visible()
    expect(changes.locator("ins", has_text="b.txt")).to_be_visible()
    expect(changes.locator("ins", has_text="as typed")).to_be_visible()
    assert decisions(told, asked) == 0, "nothing has run yet"
    asked.button("Approve with changes").click()
    asked.expect_finished()
    assert told.files(asked.conversation) == {"b.txt": "as typed\n"}
    assert "changed by ann" in result(told, asked)
    expect(asked.page.locator(".decided")).to_contain_text("Approved with changes")
    asked.expect_same_when_loaded_anew()


def test_going_back_from_the_form_leaves_the_call_as_it_was(asked: Chat, told: Program):
    form = open_form(asked)
    form.get_by_label("Content").fill("something else")
    form.get_by_role("link", name="Back").click()
    expect(asked.page.locator("form.modify")).to_have_count(0)
    asked.button("Approve").click()
    asked.expect_finished()
    assert told.files(asked.conversation) == {"a.txt": "as asked\n"}


REFRESH = """card => new Promise(done => {
  card.addEventListener("htmx:finally:request", done, { once: true });
  htmx.trigger(card, "refresh");
}).then(() => undefined)"""


def test_what_is_being_written_outlives_a_refresh_of_the_card(asked: Chat):
    form = open_form(asked)
    form.get_by_label("Content").fill("half a sent")
    asked.calls.evaluate(REFRESH)
    expect(form.get_by_label("Content")).to_have_value("half a sent")
    form.get_by_role("link", name="Back").click()
    asked.page.locator("summary", has_text="Reject…").click()
    asked.page.get_by_label("Reason, which the agent reads").fill("not on a Fri")
    asked.calls.evaluate(REFRESH)
    expect(asked.page.get_by_label("Reason, which the agent reads")).to_have_value("not on a Fri")


def test_an_answer_that_comes_late_does_not_take_a_card_back(asked: Chat):
    card = asked.calls.element_handle()
    before = asked.page.request.get(f"{card.get_attribute('hx-get')}", headers={"HX-Request": "true"}).text()
    asked.button("Approve").click()
    asked.expect_finished()
    expect(asked.calls).to_have_attribute("data-status", "finished")
    asked.page.route("**/cards/call/*", lambda route: route.fulfill(body=before, content_type="text/html"))
    asked.calls.evaluate(REFRESH)
    expect(asked.calls).to_have_attribute("data-status", "finished")
    expect(asked.waiting).to_have_count(0)


def test_a_rejection_needs_a_reason_which_the_model_hears(asked: Chat, told: Program):
    asked.page.locator("summary", has_text="Reject…").click()
    reason = asked.page.get_by_label("Reason, which the agent reads")
    asked.button("Reject").click()
    assert reason.evaluate("field => field.validity.valueMissing")
    reason.fill("not on a Friday")
    asked.button("Reject").click()
    asked.expect_finished()
    assert told.files(asked.conversation) == {}
    assert "rejected" in result(told, asked).lower() and "not on a Friday" in result(told, asked)
    expect(asked.calls).to_have_attribute("data-status", "rejected")
    expect(asked.page.locator(".approval")).to_contain_text("not on a Friday")
    asked.expect_same_when_loaded_anew()


def test_an_answer_may_be_given_in_place_of_the_tool(asked: Chat, told: Program):
    asked.page.locator("summary", has_text="Respond…").click()
    asked.page.locator("textarea[name=response]").fill("it is written on paper")
    asked.button("Send as the result").click()
    asked.expect_finished()
    assert told.files(asked.conversation) == {}
    assert result(told, asked) == "Answered by ann in place of the tool: it is written on paper"
    expect(asked.calls.locator(".state").first).to_have_text("Answered by a person")


def test_a_risky_call_needs_a_comment_and_a_look(echo: Chat, told: Program):
    echo.ask(f'[[call write_file {{"path": "a.txt", "content": ""}}]] {calling("delete_file", path="a.txt")}')
    echo.expect_waiting()
    echo.button("Approve").click()
    card = echo.page.locator(".approval.pending.high")
    expect(card).to_be_visible()
    comment, look = card.get_by_label("Comment"), card.get_by_label("I have looked at what this will do.")
    echo.button("Approve", card).click()
    assert comment.evaluate("field => field.validity.valueMissing")
    comment.fill("it is empty")
    echo.button("Approve", card).click()
    assert look.evaluate("box => box.validity.valueMissing")
    assert told.files(echo.conversation) == {"a.txt": ""}
    look.check()
    echo.button("Approve", card).click()
    echo.expect_finished()
    assert told.files(echo.conversation) == {}
    expect(echo.page.locator(".approval").last).to_contain_text("it is empty")


def test_each_of_three_calls_is_decided_by_itself(echo: Chat, told: Program):
    calls = " || ".join(f'write_file {{"path": "{name}.txt", "content": "{name}"}}' for name in "abc")
    echo.ask(f"[[call {calls}]] [[tokens=2 rate=0]]")
    echo.expect_waiting(3)
    echo.button("Approve", echo.calls.nth(1)).click()
    expect(echo.waiting).to_have_count(2)
    echo.calls.nth(0).locator("summary", has_text="Reject…").click()
    echo.calls.nth(0).get_by_label("Reason").fill("no a")
    echo.button("Reject", echo.calls.nth(0)).click()
    expect(echo.waiting).to_have_count(1)
    echo.page.reload()
    expect(echo.waiting).to_have_count(1)
    echo.button("Approve", echo.calls.nth(2)).click()
    echo.expect_finished()
    assert told.files(echo.conversation) == {"b.txt": "b", "c.txt": "c"}


def test_a_double_click_decides_once(asked: Chat, told: Program):
    asked.button("Approve").dblclick()
    asked.expect_finished()
    assert decisions(told, asked) == 1
    assert told.kinds(asked.run).count("ToolStarted") == 1
    expect(asked.page.locator(".approval [role=alert]")).to_have_count(0)


def test_a_late_click_gets_the_card_as_it_is(asked: Chat, told: Program, watch):
    watch.expect(REFUSED)
    inbox = asked.page.context.new_page()
    inbox.route("**/approvals/pulse", lambda route: route.fulfill(status=204))  # else the card is shown as it is by now
    inbox.goto("/approvals/")
    card = inbox.locator(f"#{asked.waiting.get_attribute('id')}")
    asked.button("Approve").click()
    asked.expect_finished()
    card.get_by_role("button", name="Approve", exact=True).click()
    expect(card.locator("[role=alert]")).to_contain_text("ann")
    expect(card.locator(".decided")).to_contain_text("Approved")
    expect(card.get_by_role("button", name="Approve", exact=True)).to_have_count(0)
    assert decisions(told, asked) == 1


def test_nothing_runs_when_the_run_was_cancelled_before_the_click(asked: Chat, told: Program, watch):
    watch.expect(REFUSED)
    inbox = asked.page.context.new_page()
    inbox.route("**/approvals/pulse", lambda route: route.fulfill(status=204))  # else the card is shown as it is by now
    inbox.goto("/approvals/")
    card = inbox.locator(f"#{asked.waiting.get_attribute('id')}")
    asked.button("Cancel").click()
    asked.expect_finished("Cancelled")
    card.get_by_role("button", name="Approve", exact=True).click()
    expect(card).to_contain_text("The run was cancelled; nothing")
    assert told.files(asked.conversation) == {}
    assert result(told, asked).startswith("Cancelled")


def test_a_member_decides_in_a_shared_conversation_and_a_reviewer_only_looks(
    window: Callable[..., Page], program: Callable[[str], Program]
):
    told = program("ann")
    conversation = told.converse("Echo", visibility="team")
    mine = Chat.open(window("ann"), conversation)
    mine.ask(writing())
    mine.expect_waiting()
    reviewer = Chat.open(window("rita"), conversation)
    expect(reviewer.waiting).to_contain_text("You may look at this call but not decide about it.")
    expect(reviewer.waiting.get_by_role("button")).to_have_count(0)
    expect(reviewer.field).to_have_count(0)
    expect(reviewer.button("Cancel")).to_have_count(0)
    member = Chat.open(window("ben"), conversation)
    member.button("Approve", member.waiting).click()
    for chat in (member, mine, reviewer):
        chat.expect_finished()
        expect(chat.page.locator(".decided")).to_have_text(re.compile(r"Approved · ben ·"))
    assert told.files(conversation) == {"a.txt": "as asked\n"}


def test_the_inbox_counts_shows_and_decides_what_waits(window: Callable[..., Page], program: Callable[[str], Program]):
    told = program("ben")
    inbox = window("ben")
    run = told.send(told.converse("Echo"), writing())
    elsewhere = Chat.open(inbox.context.new_page(), told.converse("Echo"))
    expect(elsewhere.page.locator("#inbox-count-side")).to_contain_text("1")
    inbox.goto("/approvals/")
    expect(inbox).to_have_title(re.compile(r"^\(1\)"))
    inbox.get_by_role("button", name="Approve", exact=True).click()
    expect(inbox.locator(".decided")).to_contain_text("Approved")
    expect(inbox.locator("#inbox-count-side")).to_be_empty()
    assert told.finish(run)["outcome"] == "answered"


HIDDEN = "invoice\u202egnp.exe and zero\u200bwidth, p\u0430ypal.example, \U000e0041"


def test_characters_that_nobody_sees_are_marked_on_the_card(echo: Chat, told: Program):
    echo.ask(writing(content=HIDDEN))
    echo.expect_waiting()
    expect(echo.waiting).to_contain_text("characters that cannot be seen or that look like others")
    shown = echo.waiting.locator(".fields")
    for code in ("U+202E", "U+200B", "U+E0041"):
        expect(shown.locator("mark.hidden-char", has_text=code).first).to_be_visible()
    expect(shown.locator("mark.look-alike").first).to_be_visible()
    echo.approve_all()
    echo.expect_finished()
    assert told.files(echo.conversation) == {"a.txt": HIDDEN}
