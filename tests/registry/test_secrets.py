"""Keys at rest: nobody reads them without the site's secret key, and that key may be changed."""

import pytest

from agentweb.registry import secrets

OLD, NEW = "the old secret key of this site, long enough", "the new secret key of this site, long enough"


@pytest.mark.parametrize("plain", ["sk-1234567890abcdef", "x", "钥匙 with words", "k" * 5000])
def test_a_secret_comes_back_and_is_not_to_be_seen_in_what_is_stored(plain):
    stored = secrets.encrypt(plain)
    assert secrets.decrypt(stored) == plain
    assert plain not in stored or plain == "x"
    assert secrets.encrypt(plain) != stored


def test_no_secret_is_stored_as_nothing():
    assert secrets.encrypt("") == ""
    assert secrets.decrypt("") == ""


def test_what_was_stored_under_an_old_key_is_read_with_it_as_a_fallback(settings):
    settings.SECRET_KEY = OLD
    stored = secrets.encrypt("sk-old")
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]
    assert secrets.decrypt(stored) == "sk-old"


def test_new_secrets_need_the_new_key_only(settings):
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = NEW, [OLD]
    stored = secrets.encrypt("sk-new")
    settings.SECRET_KEY_FALLBACKS = []
    assert secrets.decrypt(stored) == "sk-new"


@pytest.mark.parametrize("damage", [lambda stored: stored[:-6], lambda stored: "é", lambda stored: "plain text"])
def test_what_cannot_be_read_says_what_to_do(damage):
    with pytest.raises(secrets.SecretUnreadable, match="Enter the key again, or add the old secret key"):
        secrets.decrypt(damage(secrets.encrypt("sk-1")))


def test_a_lost_secret_key_says_what_to_do(settings):
    settings.SECRET_KEY = OLD
    stored = secrets.encrypt("sk-1")
    settings.SECRET_KEY = NEW
    with pytest.raises(secrets.SecretUnreadable, match="SECRET_KEY_FALLBACKS"):
        secrets.decrypt(stored)


@pytest.mark.parametrize(("plain", "shown"), [("sk-1234567890ab", "90ab"), ("short", ""), ("", "")])
def test_only_the_end_of_a_long_key_is_shown(plain, shown):
    assert secrets.hint(plain) == shown
