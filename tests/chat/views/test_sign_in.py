"""Signing in and out, and what only people who are signed in get."""

import pytest
from django.core.cache import cache
from django.urls import NoReverseMatch, reverse

from tests.chat.views.person import HTMX, browser, html_of, text_of


@pytest.fixture(autouse=True)
def no_earlier_attempts():
    cache.clear()


@pytest.fixture
def ann(cast):
    cast.owner.set_password("a long enough password")
    cast.owner.save()
    return cast.owner


def sign_in(client, name="owner", password="a long enough password", **more):
    return client.post(reverse("account_login"), {"login": name, "password": password, **more})


def test_signing_in_leads_to_where_one_wanted_to_go(ann):
    client = browser()
    refused = client.get("/approvals/")
    assert refused.url == "/accounts/login/?next=/approvals/"
    assert "Sign in to see that page." in text_of(client.get(refused.url))
    assert sign_in(client, next="/approvals/").url == "/approvals/"
    assert client.get("/approvals/").status_code == 200


@pytest.mark.parametrize("target", ["https://evil.example/", "//evil.example", "javascript:alert(1)"])
def test_signing_in_never_leads_away_from_the_site(ann, target):
    assert sign_in(browser(), next=target).url == "/"


@pytest.mark.parametrize(("name", "password"), [("owner", "wrong"), ("nobody", "wrong"), ("", ""), ("a\x00b", "c")])
def test_a_failed_attempt_says_so_and_keeps_the_name(ann, name, password):
    answer = sign_in(browser(), name, password)
    assert answer.status_code == 200
    assert 'aria-invalid="true"' in html_of(answer) or 'role="alert"' in html_of(answer)
    assert "\x00" not in html_of(answer)


def test_too_many_failed_attempts_are_held_up(ann):
    client = browser()
    answers = [sign_in(client, password="wrong") for _ in range(7)]
    assert "Too many failed login attempts" in text_of(answers[-1]) or answers[-1].status_code == 429


def test_an_account_that_is_switched_off_is_told_so(ann):
    ann.is_active = False
    ann.save()
    client = browser()
    answer = sign_in(client)
    assert answer.url == "/accounts/login/"
    assert "This account is switched off." in text_of(client.get(answer.url))


def test_signing_out_needs_a_click_and_ends_the_session(ann):
    client = browser(ann)
    assert "Do you want to sign out?" in text_of(client.get("/accounts/logout/"))
    assert client.get("/").status_code == 200
    assert client.post("/accounts/logout/").url == "/accounts/login/"
    assert client.get("/").status_code == 302


@pytest.mark.parametrize("path", ["signup/", "password/reset/", "email/", "inactive/", "reauthenticate/", ""])
def test_no_other_page_of_accounts_exists(ann, path):
    assert browser().get(f"/accounts/{path}").status_code == 404
    assert browser(ann).get(f"/accounts/{path}").status_code == 404


def test_there_is_no_address_for_signing_up():
    with pytest.raises(NoReverseMatch):
        reverse("account_signup")


def test_a_fragment_sends_the_whole_page_to_sign_in(cast):
    run = cast.run()
    answer = browser().get(f"/cards/run/{run.public_id}", headers=HTMX)
    assert answer.status_code == 401
    assert answer["HX-Redirect"] == "/accounts/login/?next=/c/here/"
    assert answer.content == b""


def test_the_login_page_is_there_in_chinese_and_in_the_dark(db):
    client = browser()
    client.cookies["theme"] = "dark"
    page = client.get("/accounts/login/", headers={"Accept-Language": "zh-CN"})
    assert '<html lang="zh-Hans" data-theme="dark">' in html_of(page)
    assert "登录" in text_of(page)
