"""A reviewer finds a run and reads it; its owner sees that somebody looked."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.program import Program
from tests.e2e.test_approvals import writing
from tests.e2e.test_look import SMALL, WIDE, violations

OPEN_ALL = "document.querySelectorAll('main details').forEach((each) => { each.open = true })"


@pytest.fixture
def run(program: Callable[[str], Program]) -> str:
    """A finished run of ann's: a call that she changed, and an answer."""
    told = program("ann")
    changed = {"path": "a.txt", "content": "as ann wants it\n"}

    def modify(run: str) -> None:
        for approval in told.pending(run):
            told.decide(approval, "modify", arguments=changed, comment="shorter")

    started = told.send(told.converse("Echo"), writing(content="as asked\n"))
    told.finish(started, modify)
    return started


@pytest.fixture
def rita(window: Callable[..., Page]) -> Page:
    return window("rita")


def test_a_reviewer_finds_the_run_by_what_it_did_and_reads_each_request(run: str, rita: Page):
    rita.goto("/")
    rita.get_by_role("link", name="Audit").click()
    found = rita.locator(f'.audit-runs a[href="/audit/runs/{run}/"]')
    rita.get_by_label("Tool used").select_option("delete_file")
    expect(rita).to_have_url(re.compile("tool=delete_file"))
    expect(found).to_have_count(0)
    rita.get_by_label("Tool used").select_option("write_file")
    rita.get_by_label("Decision").select_option("modified")
    expect(rita).to_have_url(re.compile("decision=modified"))
    rita.get_by_label("Person").fill("ann")
    rita.locator("#audit-results > *").first.evaluate("part => part.id = 'before'")
    rita.get_by_label("Person").press("Enter")
    expect(rita).to_have_url(re.compile("person=ann"))
    expect(rita.locator("#before")).to_have_count(0)  # a click while the list is replaced would go nowhere
    found.click()
    expect(rita.get_by_text("The record is whole")).to_be_visible()
    decided = rita.locator("[data-kind=ApprovalDecided]")
    expect(decided).to_contain_text("ann")
    expect(decided).to_contain_text("shorter")
    expect(decided.locator("ins")).to_contain_text("as ann wants it")
    asked = rita.locator("[data-kind=ModelRequested]")
    expect(asked).to_have_count(2)
    for request in asked.all():
        request.locator("summary", has_text="The exact request").click()
        expect(request.locator(".request")).to_contain_text("Matches the record.")


def test_the_owner_sees_who_looked(run: str, rita: Page, ann: Page):
    rita.goto(f"/audit/runs/{run}/")
    rita.get_by_role("link", name="Open", exact=True).first.click()
    rita.wait_for_url(re.compile("/c/"))
    ann.goto(rita.url)
    ann.locator("summary", has_text="Conversation menu").click()
    expect(ann.locator(".chat-head .menu-body")).to_contain_text("Looked at by rita")


def test_the_audit_is_accessible_and_fits_a_small_phone(run: str, window: Callable[..., Page], screenshots: Path):
    for name, options in (("light", {}), ("dark", {"color_scheme": "dark"}), ("phone", SMALL)):
        page = window("rita", **options)
        for address in ("/audit/", f"/audit/runs/{run}/", f"/audit/runs/{run}/requests/4"):
            page.goto(address)
            page.evaluate(OPEN_ALL)
            page.screenshot(path=screenshots / f"{name}-{address.strip('/').split('/')[-2:][0]}.png", full_page=True)
            assert violations(page) == [], (name, address)
            assert page.evaluate(WIDE) <= 0, (name, address)
