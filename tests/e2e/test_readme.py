"""The commands that the README gives do what they say."""

import re
import shlex

import pytest

from tests.e2e.conftest import Furniture
from tests.stack import ROOT, Stack

ELSEWHERE = {
    "make up": "tests/e2e/test_up.py",
    "make test": "tests/run.py",
    "OPENAI_BASE_URL=http://127.0.0.1:11434/v1 OPENAI_MODEL=my-model make up": "tests/crash/site.py",
}
"""Commands that other tests run, or that run the tests, and where."""


def commands() -> list[str]:
    """Each command of a block, in one line and without what is said about it."""
    blocks = re.findall(r"^```\n(.*?)^```", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    lines = "".join(blocks).replace("\\\n", " ").splitlines()
    return [" ".join(line.partition("  #")[0].split()) for line in lines]


MANAGE = [line.split("manage.py ")[1] for line in commands() if "manage.py" in line]
CURL = [line for line in commands() if line.startswith("curl ")]


def test_every_command_is_run_by_a_test():
    others = [line for line in commands() if "manage.py" not in line and line not in CURL]
    assert sorted(others) == sorted(ELSEWHERE)
    assert all((ROOT / place).exists() for place in ELSEWHERE.values())
    assert len(MANAGE) >= 4
    assert CURL


@pytest.mark.parametrize("command", MANAGE)
def test_a_command_of_manage_does_what_it_should(command: str, stack: Stack):
    assert stack.manage(*shlex.split(command)).stdout


@pytest.mark.parametrize("command", CURL)
def test_a_request_to_the_api_is_answered(command: str, stack: Stack, furniture: Furniture):
    words = shlex.split(command.replace("$TOKEN", furniture.tokens["ann"]))
    headers = dict(words[at + 1].split(": ", 1) for at, word in enumerate(words) if word == "-H")
    body = words[words.index("-d") + 1]
    path = words[-1].split("8000", 1)[1]
    with stack.client() as client:
        answer = client.post(path, content=body, headers=headers)
    assert answer.status_code == 201, answer.text
