"""Getting in."""

import re

from playwright.sync_api import Page, expect


def test_a_stranger_is_asked_to_sign_in_and_comes_back_to_the_page(page: Page, stack):
    page.goto("/")
    page.locator("[name=login]").fill("ann")
    page.locator("[name=password]").fill(stack.passwords["ann"])
    page.locator("[name=password]").press("Enter")
    expect(page).to_have_url(f"{stack.url}/")
    expect(page.locator("body")).to_contain_text("ann")


def test_a_wrong_password_is_said_on_the_page(page: Page):
    page.goto("/accounts/login/")
    page.locator("[name=login]").fill("ann")
    page.locator("[name=password]").fill("not her password")
    page.locator("[name=password]").press("Enter")
    expect(page.locator("main")).to_contain_text(re.compile("not correct", re.IGNORECASE))
    expect(page).to_have_url(re.compile("/accounts/login/"))
