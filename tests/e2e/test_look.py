"""How pages look to everyone: accessible in both themes and languages, narrow screens included."""

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from tests.e2e.chat_page import Chat
from tests.e2e.program import Program
from tests.e2e.speech import SAMPLE, saying

PHONE = {"viewport": {"width": 375, "height": 812}, "has_touch": True, "is_mobile": True}
SMALL = {**PHONE, "viewport": {"width": 320, "height": 640}}
WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def pages(stack, furniture) -> Iterator[dict[str, str]]:
    """Addresses by name; behind them a long answer, a failed tool, a plain and a risky call that wait."""
    with stack.client(furniture.tokens["ann"]) as client:
        told = Program(client, furniture.agents)
        answered = told.converse("Echo")
        told.finish(told.send(answered, saying(SAMPLE)))
        told.finish(told.send(answered, '[[call read_file {"path": "no.txt"}]] [[tokens=5 rate=0]]'))
        waits = told.converse("Echo")
        risky = 'delete_file {"path": "a.txt"}'
        run = told.send(waits, f'[[call write_file {{"path": "a.txt", "content": "one\\ntwo\\n"}} || {risky}]]')
        chat = told.converse("Builder")
        told.send(chat, "Make the TypeScript configuration strict")
        while len(told.pending(run)) < 2:
            told.get(f"/runs/{run}/events", after=len(told.events(run)), wait=5)
        yield {
            "list": "/",
            "chat": f"/c/{answered}/",
            "waiting": f"/c/{waits}/",
            "approvals": "/approvals/",
            "files": f"/c/{waits}/files",
            "modify": f"/approvals/{told.pending(run)[0]['id']}/modify",
        }
        told.post(f"/runs/{run}/cancel")


def violations(page: Page) -> list[str]:
    found = Axe().run(page).response["violations"]
    return [f"{each['id']}: {node['html'][:200]}" for each in found for node in each["nodes"]]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_checker_finds_nothing_on_the_sign_in_page(theme: str, page: Page):
    page.emulate_media(color_scheme=theme)
    page.goto("/accounts/login/")
    assert violations(page) == []
    page.locator("[name=login]").fill("nobody")
    page.locator("[name=password]").fill("wrong")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_be_visible()
    assert violations(page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_checker_finds_nothing_on_any_page(theme: str, window: Callable[..., Page], pages: dict[str, str]):
    page = window("ann", color_scheme=theme)
    for name, address in pages.items():
        page.goto(address)
        page.evaluate("document.querySelectorAll('#log details').forEach((fold) => (fold.open = true))")
        assert violations(page) == [], name


@pytest.mark.parametrize("size", [PHONE, SMALL], ids=["375", "320"])
def test_nothing_is_wider_than_a_phone(
    size: dict, window: Callable[..., Page], pages: dict[str, str], screenshots: Path
):
    page = window("ann", **size)
    for name, address in pages.items():
        page.goto(address)
        page.screenshot(path=screenshots / f"{name}.png")
        assert page.evaluate(WIDE) <= 0, name


def test_a_call_is_approved_on_a_phone(window: Callable[..., Page], program: Callable[[str], Program]):
    page = window("ann", **PHONE)
    chat = Chat.open(page, program("ann").converse("Echo"))
    chat.field.fill('[[call write_file {"path": "a.txt", "content": "x"}]] [[tokens=1 rate=0]]')
    chat.field.press("Enter")
    expect(chat.page.locator(".run"), "Enter makes a line on a phone").to_have_count(0)
    chat.button("Send").tap()
    chat.expect_waiting()
    chat.button("Approve").tap()
    chat.expect_finished()
    page.get_by_role("button", name="Conversations").tap()
    expect(page.locator("#side")).to_be_visible()
    expect(page.locator("#side [aria-current=page]")).to_be_visible()


def test_the_language_is_switched_and_the_page_stays(echo: Chat, ann: Page):
    ann.locator("summary", has_text="ann").click()
    ann.get_by_role("button", name="简体中文").click()
    expect(ann.locator("html")).to_have_attribute("lang", "zh-Hans")
    expect(ann).to_have_url(re.compile(f"/c/{echo.conversation}/"))
    expect(echo.field).to_have_attribute("placeholder", re.compile("Echo"))
    echo.field.fill('[[call write_file {"path": "a.txt", "content": "x"}]] [[tokens=1 rate=0]]')
    echo.field.press("Enter")
    expect(ann.get_by_role("button", name="批准", exact=True)).to_be_visible(timeout=30_000)
    expect(echo.state.locator("strong")).to_have_text("等待批准")
    ann.get_by_role("button", name="批准", exact=True).click()
    expect(echo.state.locator("strong")).to_have_text("已回答", timeout=30_000)
    ann.locator("summary", has_text="ann").click()
    ann.get_by_role("button", name="English").click()
    expect(ann.locator("html")).to_have_attribute("lang", "en")
    expect(echo.state.locator("strong")).to_have_text("Answered")


def test_the_theme_is_chosen_and_kept(ann: Page):
    ann.goto("/")
    background = "getComputedStyle(document.body).backgroundColor"
    light = ann.evaluate(background)
    ann.locator("summary", has_text="ann").click()
    ann.get_by_role("button", name="Dark").click()
    expect(ann.locator("html")).to_have_attribute("data-theme", "dark")
    dark = ann.evaluate(background)
    ann.goto("/approvals/")
    assert ann.evaluate(background) == dark != light


@pytest.mark.parametrize(("language", "theme"), [("en", "light"), ("zh-hans", "dark")])
def test_pictures_for_people(
    language: str, theme: str, window: Callable[..., Page], pages: dict[str, str], stack, screenshots: Path
):
    """Nothing is missing in any of them; whether they are good is for people to see."""
    page = window("ann", color_scheme=theme, viewport={"width": 1280, "height": 900})
    page.context.add_cookies([{"name": "django_language", "value": language, "url": stack.url}])
    for name, address in pages.items():
        page.goto(address)
        page.screenshot(path=screenshots / f"{name}.png")
        expect(page.get_by_role("heading").first).to_be_attached()
