"""Whole-site tests: real processes, a real browser, and nothing that a program or person outside could not do.

Synchronous Playwright keeps an event loop in this thread, so these tests run in a process without asyncio tests.
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Cookie, Page, expect

from tests import chromium, databases
from tests.e2e.chat_page import Chat
from tests.e2e.program import Program
from tests.e2e.speech import Speech
from tests.stack import Stack, stack_on

HERE = Path(__file__).resolve().parent
TOOLS = "tests.e2e.slow_tools"

expect.set_options(timeout=60_000)  # how busy the machine is, is no fault of a page; what must be quick is measured


@pytest.fixture(scope="session")
def database_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A new database for the shared stack."""
    with databases.new_database(tmp_path_factory.mktemp("database"), "agentweb_site") as address:
        yield address


@pytest.fixture
def own_database_url(tmp_path: Path) -> Iterator[str]:
    """A new database for a test with processes of its own."""
    with databases.new_database(tmp_path, "agentweb_own") as address:
        yield address


@dataclass(frozen=True)
class Furniture:
    """Tokens of the API by user name, ids of agents by name."""

    tokens: dict[str, str]
    agents: dict[str, str]


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory, database_url: str) -> Iterator[Stack]:
    """The site that most tests share, with the demo team and a model server. Leave it running as you found it."""
    with stack_on(tmp_path_factory.mktemp("stack"), database_url, TOOLBOX_MODULES=TOOLS) as running:
        running.start("model")
        running.begin()
        yield running


@pytest.fixture(scope="session")
def furniture(stack: Stack) -> Furniture:
    """Beyond the demo team: the agents Echo (the fake model, every tool) and Hasty (one turn), and tokens."""
    code = (HERE / "furnish.py").read_text()
    return Furniture(**json.loads(stack.manage("shell", "-c", code, MODEL_URL=stack.model_url).stdout.splitlines()[-1]))


@pytest.fixture(scope="session")
def cookies(stack: Stack) -> Callable[[str], list[Cookie]]:
    """The session of a person, who signs in when it is first asked for."""
    known: dict[str, list[Cookie]] = {}

    def of(name: str) -> list[Cookie]:
        if name not in known:
            known[name] = _sign_in(stack, name)
        return known[name]

    return of


def _sign_in(stack: Stack, name: str) -> list[Cookie]:
    with stack.client() as client:
        client.get("/accounts/login/")
        form = {"login": name, "password": stack.passwords[name], "csrfmiddlewaretoken": client.cookies["csrftoken"]}
        answer = client.post("/accounts/login/", data=form)
        assert answer.status_code == 302, answer.text
        return [Cookie(name=each.name, value=each.value or "", url=stack.url) for each in client.cookies.jar]


@pytest.fixture
def program(stack: Stack, furniture: Furniture) -> Iterator[Callable[[str], Program]]:
    """A program that talks to the site with a person's token."""
    clients = {name: stack.client(token) for name, token in furniture.tokens.items()}
    yield lambda name: Program(clients[name], furniture.agents)
    for client in clients.values():
        client.close()


@pytest.fixture(scope="session")
def browser_type_launch_args(browser_type_launch_args: dict[str, Any]) -> dict[str, Any]:
    """The system's browser."""
    return {**browser_type_launch_args, "executable_path": chromium.find(), "args": chromium.ARGUMENTS}


@pytest.fixture(scope="session")
def browser_context_args(browser_context_args: dict[str, Any], stack: Stack) -> dict[str, Any]:
    """Addresses in tests begin with a slash. Nothing moves, which would be drawn sixty times a second."""
    return {**browser_context_args, "base_url": stack.url, "reduced_motion": "reduce"}


class Watch:
    """What went wrong in the pages of one browser window: script errors, console errors, requests elsewhere."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.faults: list[str] = []
        self.expected: list[str] = []

    def expect(self, *parts: str) -> None:
        """Console errors that contain one of these are part of the test, such as a refused connection."""
        self.expected.extend(parts)

    def follow(self, context: BrowserContext) -> None:
        """Look at every page of the window from now on."""
        context.on("page", self._follow_page)
        context.on("weberror", lambda error: self.faults.append(f"script error: {error.error}"))
        context.on("request", lambda request: self._look_at(request.url))

    def _follow_page(self, page: Page) -> None:
        page.on("console", self._listen)
        page.on("websocket", lambda opened: self._look_at(opened.url.replace("ws", "http", 1)))

    def _listen(self, message: ConsoleMessage) -> None:
        if message.type == "error" and not any(part in message.text for part in self.expected):
            self.faults.append(f"console: {message.text}")

    def _look_at(self, address: str) -> None:
        """Without standing in the way of requests, which would switch the browser's cache off."""
        parts = urlsplit(address)
        if parts.scheme not in ("data", "blob") and f"{parts.scheme}://{parts.netloc}" != self.origin:
            self.faults.append(f"request to {address}")


@pytest.fixture
def watch(stack: Stack) -> Watch:
    """What the browser complains about in this test."""
    return Watch(stack.url)


@pytest.fixture
def context(context: BrowserContext, watch: Watch) -> Iterator[BrowserContext]:
    """A window whose faults fail the test."""
    watch.follow(context)
    yield context
    assert watch.faults == []


@pytest.fixture
def window(
    browser: Browser,
    browser_context_args: dict[str, Any],
    cookies: Callable[[str], list[Cookie]],
    furniture: Furniture,
    watch: Watch,
) -> Iterator[Callable[..., Page]]:
    """Opens a browser window in which a person is signed in; its faults fail the test."""
    opened: list[BrowserContext] = []

    def open_for(name: str, **options: Any) -> Page:
        made = browser.new_context(**{**browser_context_args, **options})
        made.set_default_timeout(20_000)
        made.add_cookies(cookies(name))
        watch.follow(made)
        opened.append(made)
        return made.new_page()

    yield open_for
    for made in opened:
        made.close()
    assert watch.faults == []


@pytest.fixture
def ann(window: Callable[..., Page]) -> Page:
    """A member's window."""
    return window("ann")


@pytest.fixture
def echo(ann: Page, program: Callable[[str], Program]) -> Chat:
    """A new conversation of ann with Echo, on the page."""
    return Chat.open(ann, program("ann").converse("Echo"))


@pytest.fixture
def speech(stack: Stack) -> Speech:
    """An answer that this test stops in the middle."""
    return Speech(stack.model_url)


@pytest.fixture
def sign_in(stack: Stack) -> Callable[[Page, str], None]:
    """Signs a person of the demo team in, through the form."""

    def enter(page: Page, name: str) -> None:
        page.goto(f"{stack.url}/accounts/login/")
        page.locator("[name=login]").fill(name)
        page.locator("[name=password]").fill(stack.passwords[name])
        page.locator("[name=password]").press("Enter")
        page.wait_for_url(lambda address: "/accounts/login" not in address)

    return enter


@pytest.fixture
def token(stack: Stack) -> Callable[[str], str]:
    """Makes a token of the API for a person."""

    def make(name: str) -> str:
        return stack.manage("create_token", name).stdout.split()[-1]

    return make


@pytest.fixture
def screenshots(request: pytest.FixtureRequest) -> Path:
    """A folder for pictures of this test, kept for people to look at."""
    folder = Path(request.config.getoption("--output")) / request.node.name
    folder.mkdir(parents=True, exist_ok=True)
    return folder
