"""Colours and language: kept for the browser, before signing in too."""

import pytest

from tests.chat.views.person import browser, html_of, text_of


@pytest.mark.parametrize(("chosen", "attribute"), [("dark", ' data-theme="dark"'), ("light", ' data-theme="light"')])
def test_chosen_colours_are_in_the_first_byte_of_the_next_page(db, chosen, attribute):
    client = browser()
    answer = client.post("/theme/", {"theme": chosen, "next": "/accounts/login/"})
    assert answer.url == "/accounts/login/"
    assert f'<html lang="en"{attribute}>' in html_of(client.get(answer.url))


@pytest.mark.parametrize("chosen", ["auto", "", "<script>", "\x00"])
def test_anything_else_follows_the_device(db, chosen):
    client = browser()
    client.post("/theme/", {"theme": "dark"})
    client.post("/theme/", {"theme": chosen})
    assert '<html lang="en" >' in html_of(client.get("/accounts/login/"))


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example/x", "javascript:alert(1)", ""])
def test_it_never_leads_away_from_the_site(db, target):
    assert browser().post("/theme/", {"theme": "dark", "next": target}).url == "/"


@pytest.mark.parametrize("target", ["nothing", "conversation"])
def test_a_word_that_is_no_address_is_no_fault(db, target):
    assert browser().post("/theme/", {"theme": "dark", "next": target}).url == target


def test_a_cookie_that_someone_wrote_changes_nothing(db):
    client = browser()
    client.cookies["theme"] = '"><script>alert(1)</script>'
    assert "<script>alert" not in html_of(client.get("/accounts/login/"))


def test_a_language_is_remembered(db):
    client = browser()
    client.post("/i18n/setlang/", {"language": "zh-hans", "next": "/accounts/login/"})
    assert "用户名" in text_of(client.get("/accounts/login/"))
