"""The lines of the log: their form, their length, what they say beside their words."""

import json
import logging
import os
import subprocess
import sys

import pytest
from django.test import Client
from structlog.contextvars import bound_contextvars

from agentweb.config import logs
from agentweb.registry import secrets
from tests.cast import make_cast
from tests.config.log_lines import Written, written

logger = logging.getLogger("agentweb.somewhere")


def test_a_line_is_one_json_object_that_says_when_who_and_what():
    with written() as log, bound_contextvars(run="r1", conversation="c1"):
        logger.warning("It is %s\nof %d kinds: 奇怪", "odd", 2)
    [line] = log.lines
    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "It is odd\nof 2 kinds: 奇怪",
        "level": "warning",
        "logger": "agentweb.somewhere",
        "process": os.getpid(),
        "run": "r1",
        "conversation": "c1",
    }


def test_a_traceback_is_part_of_its_line_with_all_its_causes():
    with written() as log:
        try:
            try:
                raise KeyError("first")
            except KeyError as error:
                raise ValueError("second") from error
        except ValueError:
            logger.exception("It failed")
    [line] = log.lines
    assert "KeyError: 'first'" in line["exception"] and line["exception"].endswith("ValueError: second")


def test_people_at_a_terminal_read_words_and_their_terminal_obeys_none_of_them():
    with written(logs.TEXT) as log:
        logger.error("red \x1b[31m and %s", "more")
    assert "red \\x1b[31m and more" in log.text and "\x1b" not in log.text
    assert not log.text.startswith("{")


def test_long_texts_are_cut_so_that_a_line_stays_a_line():
    with written() as log:
        try:
            raise ValueError("the end of " + "y" * 20_000 + "!")
        except ValueError:
            logger.exception("x" * 500_000)
    [line] = log.lines
    assert len(line["event"]) <= logs.LONGEST["event"] + 1 and line["event"].endswith("…")
    assert len(line["exception"]) <= logs.LONGEST["exception"] + 1 and line["exception"].endswith("!")


def test_a_line_that_cannot_be_written_is_named_and_its_values_are_not(capfd):
    log = Written()
    log.handle(logger.makeRecord(logger.name, logging.INFO, "", 0, "%d", ("canary",), None))
    assert log.text == ""
    assert "A log line of agentweb.somewhere was lost (TypeError)." in capfd.readouterr().err


def test_what_the_settings_and_the_stored_keys_hold_is_never_said(settings):
    settings.SECRET_KEY_FALLBACKS, settings.OPENAI_API_KEY = ["an older plain word"], "environmentkey"
    settings.REDIS_URL = "redis://:brokerword@127.0.0.1:1/0"
    stored = secrets.encrypt("storedkeyword")
    hidden = [settings.SECRET_KEY, "an older plain word", "environmentkey", "brokerword", secrets.decrypt(stored)]
    with written() as log:
        for each in hidden:
            logger.info("it is %s.", each)
    assert [line["event"] for line in log.lines] == ["it is [removed]."] * len(hidden)


@pytest.mark.django_db
def test_lines_of_a_request_name_it_and_the_person_who_is_known():
    people = make_cast()
    client = Client()
    client.force_login(people.owner)
    conversation = people.conversation()
    with written() as log:
        client.get(f"/c/{conversation.public_id}/files/none?token=abcdefgh")
        client.get("/c/no-such-page")
        Client().get("/nowhere")
    seen, page, stranger = log.lines
    assert seen["request"] == f"GET /c/{conversation.public_id}/files/none"
    assert (seen["conversation"], seen["user"]) == (str(conversation.public_id), people.owner.pk)
    assert page["request"] == "GET /c/no-such-page" and "conversation" not in page
    assert stranger["request"] == "GET /nowhere" and "user" not in stranger


SCRIPT = """
import logging, sys, threading
from django.conf import settings
from agentweb.config import logs
logs.configure(settings.LOGGING)
logging.getLogger("agentweb").info("began")
for target in (sys.exit, lambda: {}["password=hunter2canary"]):
    thread = threading.Thread(target=target)
    thread.start()
    thread.join()
raise RuntimeError("Bearer canary-in-an-error")
"""


@pytest.mark.parametrize(("form", "is_json"), [("", True), ("text", False)])
def test_what_nothing_catches_is_a_line_like_all_others(tmp_path, form, is_json):
    env = os.environ | {"DATA_DIR": str(tmp_path), "LOG_FORMAT": form}
    ended = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 1 and "canary" not in ended.stderr
    assert "RuntimeError: Bearer [removed]" in ended.stderr
    if is_json:
        levels = [json.loads(line)["level"] for line in ended.stderr.splitlines()]
        assert levels == ["info", "error", "critical"]
    else:
        assert "[info     ] began" in ended.stderr and "{" not in ended.stderr.splitlines()[0]
