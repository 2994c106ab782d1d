"""What is taken out of a line of the log, and what stays."""

import time

import pytest

from agentweb.config.redaction import REMOVED, text_without, value_without

CANARY = "Xy7-canary.90/Q+z="


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer {}",
        "authorization={}",
        "{{'Authorization': 'Bearer {}'}}",
        '{{"api_key": "{}", "n": 1}}',
        "api-key={}&x=1",
        "X-Api-Key: {}",
        "(b'x-api-key', b'{}')",
        "<QueryDict: {{'password': ['{}']}}>",
        "password={} host=db",
        "client_secret: {}",
        "Cookie: sessionid={}; theme=dark",
        "set-cookie: a=b; sessionid={}; HttpOnly",
        "csrfmiddlewaretoken={}",
        "access_token={}",
        'OPENAI_API_KEY="{}"',
        "KeyError: 'the bearer {}'",
        "Traceback\n  File x\nValueError: Bearer {} is wrong",
    ],
)
def test_a_value_behind_a_name_that_speaks_of_a_secret_is_removed(text):
    shown = text_without(text.format(CANARY))
    assert CANARY not in shown and "canary" not in shown
    assert REMOVED in shown


@pytest.mark.parametrize(
    "key",
    [
        "sk-abcdefghijklmnop",
        "sk-proj-abc_DEF-123456",
        "gsk_0123456789abcdef",
        "ghp_0123456789abcdefghij",
        "aw_abcDEF0123456789",
        "AIzaSyA0123456789abcdefghijklm",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc-DEF_123",
    ],
)
def test_what_looks_like_a_key_is_removed_wherever_it_stands(key):
    assert text_without(f"it said: {key}, and more") == f"it said: {REMOVED}, and more"


def test_the_password_of_an_address_is_removed_and_the_address_stays():
    shown = text_without("cannot reach redis://:pw1234@127.0.0.1:6379/0 or postgres://me:pw@db/name?x=1")
    assert shown == f"cannot reach redis://:{REMOVED}@127.0.0.1:6379/0 or postgres://me:{REMOVED}@db/name?x=1"


def test_known_secrets_are_removed_whatever_they_look_like():
    assert text_without("a plainword b", known=["plainword", ""]) == f"a {REMOVED} b"
    assert text_without("abc", known=["abc"]) == "abc"  # too short to be told from a word


def test_the_address_at_which_a_program_answers_is_removed():
    text = "Conflict: /api/v1/answers/Ijc2NDBhNGY2Ig:1wX9Yz:dJ-SANqv8u_B6w"
    assert text_without(text) == f"Conflict: /api/v1/answers/{REMOVED}"


@pytest.mark.parametrize(
    "text",
    [
        "The run ends: answered, done",
        "input_tokens: 812, output_tokens=17",
        "/c/7b1c9a52-0f3e-4d5e-9a83-0a1b2c3d4e5f/send",
        "task-force asks at 12:30: go on",
        "http://127.0.0.1:8000/health/ready answered 503",
        "Basic rules hold",
    ],
)
def test_harmless_words_stay(text):
    assert text_without(text) == text


def test_values_of_any_depth_are_searched_and_unknown_objects_become_text():
    class Odd:
        def __repr__(self) -> str:
            return f"<Odd token={CANARY}>"

    shown = value_without({"a": [{"password": 1, "n": 2}], "session_key": "x", "odd": Odd(), "none": None, "f": 0.5})
    assert shown == {
        "a": [{"password": REMOVED, "n": 2}],
        "session_key": REMOVED,
        "odd": f"<Odd token={REMOVED}>",
        "none": None,
        "f": 0.5,
    }


@pytest.mark.parametrize("piece", ["a", "token=", "sk-", "password: '", "Bearer ", "://a:", "secret\\"])
def test_long_texts_take_no_time_worth_speaking_of(piece):
    text = piece * (100_000 // len(piece))
    began = time.process_time()
    text_without(text)
    assert time.process_time() - began < 2
