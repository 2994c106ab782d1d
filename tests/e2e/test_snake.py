"""The game that the agent wrote is a game: downloaded from the page, opened from the disk, and played."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Browser, Page, expect

from tests.e2e.chat_page import Chat
from tests.e2e.program import Program
from tests.e2e.tasks import TASKS
from tests.waiting import until

FILES = ("snake.html", "snake.css", "snake.js")
HEAD = "snake[0].join()"


def download(page: Page, folder: Path) -> None:
    """All files of the conversation, by the links of its page of files."""
    page.get_by_role("link", name="Files", exact=True).click()
    expect(page.locator(".files a")).to_have_count(len(FILES))
    for name in FILES:
        with page.expect_download() as wanted:
            page.get_by_role("link", name=name, exact=True).click()
        assert wanted.value.suggested_filename == name
        wanted.value.save_as(folder / name)


def test_the_downloaded_game_is_played_with_the_keyboard(
    ann: Page, browser: Browser, program: Callable[[str], Program], tmp_path: Path
):
    told = program("ann")
    conversation = told.converse("Builder")
    chat = Chat.open(ann, conversation)
    chat.ask(TASKS["snake"].english)
    chat.expect_waiting(3)
    expect(chat.waiting.first.locator(".diff ins").first).to_contain_text("<!doctype html>")
    assert chat.approve_all() == 3
    download(ann, tmp_path)
    with browser.new_context(offline=True) as alone:
        faults: list[str] = []
        alone.on("weberror", lambda error: faults.append(str(error.error)))
        game = alone.new_page()
        game.on("console", lambda message: message.type == "error" and faults.append(message.text))
        game.goto((tmp_path / "snake.html").as_uri())
        play(game)
        assert faults == []


def play(game: Page) -> None:
    expect(game.get_by_role("heading", name="Snake")).to_be_visible()
    x, y = _head(game)
    game.keyboard.press("ArrowDown")
    until(lambda: _head(game)[1] >= y + 2, what="the snake goes down")
    assert _head(game)[0] >= x, "it went on to the right until it turned"
    game.keyboard.press("ArrowLeft")
    turned = _head(game)[0]
    until(lambda: _head(game)[0] < turned, what="the snake goes left")
    game.keyboard.press("Space")
    expect(game.locator("#message")).to_contain_text("Paused")
    assert _painted(game), "the snake is drawn on the board"
    game.keyboard.press("Space")
    expect(game.locator("#message")).to_contain_text("Game over")
    game.get_by_role("button", name="New game").click()
    expect(game.locator("#message")).to_have_text("Go!")
    expect(game.locator("#score")).to_have_text("0")


def _head(game: Page) -> tuple[int, int]:
    x, y = game.evaluate(HEAD).split(",")
    return int(x), int(y)


def _painted(game: Page) -> bool:
    """Whether the middle of the head's square has the snake's colour, fully opaque."""
    pixel = "[...pen.getImageData((snake[0][0] + 0.5) * size, (snake[0][1] + 0.5) * size, 1, 1).data]"
    return game.evaluate(pixel)[3] == 255
