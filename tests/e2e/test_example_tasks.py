"""The example tasks, asked by a program, by a person in a browser and on the command line: the same comes of each."""

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import Page, expect

from agentweb.toolbox import catalog
from tests.e2e.chat_page import Chat
from tests.e2e.program import Program, Told
from tests.e2e.slow_tools import dig
from tests.e2e.tasks import TASKS, Task
from tests.stack import Stack

LABELS = {tool.spec.label: tool.spec.name for tool in [*catalog.load().values(), dig]}
OUTCOMES = {"Answered": "answered", "Not finished: limit reached": "limit_reached"}
ANSWERED, ANOTHER_OUTCOME = 0, 3

every_task = pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)


@every_task
def test_a_program_gets_it_done_in_every_wording(task: Task, program: Callable[[str], Program]):
    questions = (task.english, task.chinese, task.otherwise)
    with ThreadPoolExecutor(len(questions)) as at_once:
        for told in at_once.map(lambda question: program("ann").play(task.agent, question), questions):
            task.check(told)


@every_task
def test_a_person_gets_it_done_in_two_tabs_at_once(task: Task, ann: Page, program: Callable[[str], Program]):
    other = ann.context.new_page()
    chats = [Chat.begin(ann, task.agent, task.english), Chat.begin(other, task.agent, task.chinese)]
    for chat in chats:
        chat.page.bring_to_front()
        asked = chat.approve_all()
        task.check(_as_read(chat, asked, program("ann")))
        chat.expect_same_when_loaded_anew()


@every_task
@pytest.mark.usefixtures("furniture")
def test_the_command_line_gets_it_done(task: Task, stack: Stack):
    options = ("--agent", task.agent, "--user", "ann", "--approve", "all", "--jsonl")
    ended = stack.try_to_manage("ask", task.chinese, *options)
    assert ended.returncode == (ANSWERED if task.outcome == "answered" else ANOTHER_OUTCOME), ended.stderr
    task.check(_as_recorded([json.loads(line) for line in ended.stdout.splitlines()]))


def test_a_strict_configuration_is_shown_as_a_diff_before_it_is_written(ann: Page):
    chat = Chat.begin(ann, "Builder", TASKS["typescript"].english)
    chat.expect_waiting()
    expect(chat.waiting.locator(".diff ins").first).to_be_visible()
    expect(chat.waiting.locator(".diff del")).to_have_count(0)
    first = chat.waiting.get_attribute("id")
    chat.button("Approve", chat.waiting).click()
    expect(ann.locator(f".approval.pending:not(#{first})")).to_have_count(1)
    expect(chat.waiting.locator(".diff del", has_text='"strict": false')).to_be_visible()
    expect(chat.waiting.locator(".diff ins", has_text='"strict": true')).to_be_visible()
    chat.approve_all()
    chat.expect_finished()


def _as_read(chat: Chat, asked: int, program: Program) -> Told:
    """What the page shows of its only run; exact figures and the files are what a program gets."""
    behind = program.told(chat.run, asked)
    expect(chat.totals).to_contain_text(f"{behind.usage['model_calls']} model call")
    expect(chat.totals).to_contain_text(f"{behind.usage['input_tokens']:,} in")
    assert chat.page.locator(".message.user").count() == 1, "what another tab asked is not here"
    outcome = chat.state.locator("strong").inner_text()
    expect(chat.calls, "each card is fetched by itself").to_have_count(len(behind.calls))
    expect(chat.page.locator('.call[data-status="started"]')).to_have_count(0)
    cards = chat.calls.evaluate_all(
        "cards => cards.map("
        "card => [card.querySelector('.call-name').textContent, card.dataset.status, card.className])"
    )
    calls = tuple((LABELS[label], "failed" if "failed" in css else status) for label, status, css in cards)
    return Told(calls, asked, chat.answer.inner_text(), OUTCOMES[outcome], behind.usage, behind.files)


def _as_recorded(events: list[dict]) -> Told:
    """The run as its events tell it. Files are what the calls wrote, in the order in which they ran."""
    assert [event["kind"] for event in events][-1] == "RunFinished"
    data = [(event["kind"], event["data"]) for event in events]
    end = data[-1][1]
    ended = [each for kind, each in data if kind == "ToolFinished"]
    calls = tuple((each["name"], "failed" if each["result"]["kind"] == "error" else each["status"]) for each in ended)
    asked = sum(kind == "ApprovalDecided" for kind, _each in data)
    answer = [each["message"]["text"] for kind, each in data if kind == "MessageFinished"][-1]
    files: dict[str, str] = {}
    for kind, each in data:
        if kind == "ToolStarted" and each["name"] == "write_file":
            files[each["arguments"]["path"]] = each["arguments"]["content"]
        if kind == "ToolStarted" and each["name"] == "edit_file":
            path, old, new = (each["arguments"][name] for name in ("path", "old", "new"))
            files[path] = files[path].replace(old, new)
    return Told(calls, asked, answer, end["outcome"], end["usage"], files)
