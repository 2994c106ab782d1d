"""The ask command with everything real: Valkey, a worker, a database, and a terminal where one is needed."""

import json
import os
import pty
import select
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentweb.launch.process import marked
from agentweb.launch.rundir import MARK
from agentweb.launch.runtime import Runtime
from tests import databases
from tests.stack import ROOT, Stack, stack_on
from tests.waiting import until

WRITE = "Write a file notes.txt that says hello"


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[Stack]:
    """Valkey and a worker, noted down as `manage.py up` does it."""
    folder = tmp_path_factory.mktemp("site")
    with (
        databases.new_database(tmp_path_factory.mktemp("database"), "agentweb_ask") as url,
        stack_on(folder, url) as stack,
    ):
        stack.start("valkey")
        stack.prepare()
        stack.start("worker-1")
        Runtime(redis_url=stack.redis_url, url=stack.url, port=0, pids={}).write(folder)
        yield stack


def events(ended: subprocess.CompletedProcess[str]) -> list[dict]:
    return [json.loads(line) for line in ended.stdout.splitlines()]


def kinds(ended: subprocess.CompletedProcess[str]) -> list[str]:
    return [event["kind"] for event in events(ended)]


def files(site: Stack) -> set[str]:
    return {path.name for path in (site.folder / "workspaces").rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def answered(site) -> subprocess.CompletedProcess[str]:
    """A question of ann's that has been answered."""
    return site.manage("ask", "What is the date today?", "--user", "ann")


def test_a_question_is_answered_with_thinking_calls_and_totals(answered):
    lines = answered.stdout.splitlines()
    assert "→ current_time " in lines
    assert any(line.startswith("← Date: ") for line in lines)
    assert "model calls: 2 · tool calls: 1" in lines[-2]
    assert lines[-1].startswith("conversation: ")
    assert answered.stderr == ""


def test_programs_get_the_stored_events_and_nothing_else(site):
    ended = site.manage("ask", "What is the date today?", "--jsonl")
    found = events(ended)
    assert [event["number"] for event in found] == list(range(1, len(found) + 1))
    assert {frozenset(event) for event in found} == {frozenset({"number", "kind", "at", "data"})}
    assert (kinds(ended)[0], kinds(ended)[-1]) == ("RunStarted", "RunFinished")
    assert kinds(ended).count("ToolFinished") == 1
    assert found[-1]["data"]["outcome"] == "answered"


def test_all_calls_run_where_all_are_approved(site):
    ended = site.manage("ask", WRITE, "--agent", "Builder", "--approve", "all", "--jsonl")
    decided = next(event for event in events(ended) if event["kind"] == "ApprovalDecided")
    assert (decided["data"]["status"], decided["data"]["comment"]) == ("approved", "Approved on the command line.")
    assert "notes.txt" in files(site)


def test_nothing_that_must_be_approved_runs_where_nobody_can_decide(site):
    ended = site.manage("ask", WRITE.replace("notes", "nobody"), "--agent", "Builder", "--approve", "ask", "--jsonl")
    refused = next(event for event in events(ended) if event["kind"] == "ToolFinished")
    assert refused["data"]["result"]["kind"] == "denied"
    assert "nobody attends this run" in refused["data"]["result"]["content"]
    assert {"ToolStarted", "ApprovalRequested"}.isdisjoint(kinds(ended))
    assert "nobody.txt" not in files(site)


def test_a_conversation_goes_on_with_its_own_agent(site, answered):
    conversation = answered.stdout.split()[-1]
    again = site.manage("ask", "What is the weather in Beijing?", "--user", "ann", "--conversation", conversation)
    assert again.stdout.split()[-1] == conversation
    refused = site.try_to_manage("ask", "And now?", "--user", "ben", "--conversation", conversation)
    assert (refused.returncode, refused.stdout) == (2, "")


def test_who_only_reviews_cannot_ask(site):
    refused = site.try_to_manage("ask", "What is the date today?", "--user", "rita")
    assert refused.returncode == 2
    assert refused.stderr == "You can start conversations only in a team of which you are a member.\n"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["  "], "the question is empty"),
        ([], "required: QUESTION"),
        (["Hello", "--approve", "some"], "invalid choice: 'some'"),
    ],
)
def test_a_wrong_command_line_ends_before_anything_starts(tmp_path, arguments, words):
    command = [sys.executable, str(ROOT / "manage.py"), "ask", *arguments]
    env = os.environ | {"DATA_DIR": str(tmp_path / "data")}
    ended = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert not (tmp_path / "data").exists()


class Terminal:
    """The command at a terminal, as a person sees it."""

    def __init__(self, site: Stack, *arguments: str) -> None:
        self.text = ""
        self._pid, self._terminal = pty.fork()
        if self._pid == 0:
            os.chdir(ROOT)
            os.execve(sys.executable, [sys.executable, "manage.py", "ask", *arguments], site.env | {"NO_COLOR": "1"})

    def wait_for(self, words: str) -> None:
        until(lambda: self._read() and words in self.text, 60, f"the terminal shows {words!r}: {self.text}")

    def type(self, line: str) -> None:
        self.text = ""
        os.write(self._terminal, line.encode())

    def status(self) -> int:
        """After the end."""
        until(lambda: not self._read(), 60, f"the command ends: {self.text}")
        os.close(self._terminal)
        return os.waitstatus_to_exitcode(os.waitpid(self._pid, 0)[1])

    def _read(self) -> bool:
        """Take what is there; False at the end."""
        while select.select([self._terminal], [], [], 0)[0]:
            try:
                self.text += os.read(self._terminal, 65_536).decode(errors="replace")
            except OSError:
                return False
        return True


def test_a_person_at_the_terminal_changes_the_call(site):
    terminal = Terminal(site, WRITE, "--agent", "Builder")
    terminal.wait_for("y, n REASON, m JSON, r ANSWER: ")
    assert "Creates notes.txt" in terminal.text
    terminal.type('m {"path": "changed.txt", "content": "hi"}\n')
    assert terminal.status() == 0
    assert "! modified (admin)" in terminal.text
    assert "changed.txt" in files(site)


def test_ctrl_c_cancels_the_run_and_waits_for_its_end(site):
    terminal = Terminal(site, WRITE.replace("notes", "never"), "--agent", "Builder")
    terminal.wait_for("y, n REASON, m JSON, r ANSWER: ")
    terminal.type("\x03")
    assert terminal.status() == 3
    assert "Cancelling the run." in terminal.text
    assert "cancelled: " in terminal.text
    assert "never.txt" not in files(site)


def test_on_an_empty_folder_it_brings_all_that_it_needs_and_leaves_nothing_running(tmp_path):
    env = {name: value for name, value in os.environ.items() if not name.startswith(("OPENAI_", "DJANGO_"))}
    env |= {"DATA_DIR": str(tmp_path / "data"), "DATABASE_URL": "", "REDIS_URL": ""}
    command = [sys.executable, str(ROOT / "manage.py"), "ask", "What is the date today?", "--jsonl"]
    ended = subprocess.run(command, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert kinds(ended)[-1] == "RunFinished"
    assert "manage.py changepassword" in ended.stderr
    left = [entry for folder in (tmp_path / "data" / "run").glob("*") for entry in marked(MARK, str(folder))]
    assert left == []
    assert list((tmp_path / "data" / "run").iterdir()) == []
    assert Path(tmp_path / "data" / "agentweb.sqlite3").exists()
