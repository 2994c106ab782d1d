"""From a cancel to the end: no further word, no further tool, and the tool that works is gone, within a second."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.request import ProxyHandler, build_opener

import pytest

from agentweb.engine.enums import Outcome
from agentweb.registry import catalog
from agentweb.registry.models import Agent, ChatModel, Tool
from agentweb.runs import halting
from agentweb.runs.models import Run
from agentweb.runs.selectors import run_for
from agentweb.runs.services import cancel_run, send_message
from agentweb.worker.process import Process
from tests.cast import Cast, make_cast
from tests.toolbox.apart_tools import lives
from tests.waiting import at_once, until
from tests.worker import slow_tools

pytestmark = pytest.mark.django_db(transaction=True)

AT_ONCE_S = 1.0
TOOLS = ("slow_async", "slow_asking", "slow_blocking", "slow_program")
NEXT = '[[call calculator {"expression": "6*7"}]]'
"""Another tool, which must never start."""


class ModelServer:
    """The fake one, in a process of its own."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.fake_llm", "--port", "0"]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.url = self._process.stdout.readline().split()[-1]
        self._open = build_opener(ProxyHandler({})).open

    def stats(self) -> dict[str, Any]:
        with self._open(self.url.removesuffix("/v1") + "/stats") as answer:
            return dict(json.load(answer))

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()


@pytest.fixture(scope="module")
def model_server() -> Iterator[ModelServer]:
    server = ModelServer()
    yield server
    server.stop()


@pytest.fixture
def people(valkey, settings, monkeypatch, tmp_path) -> Iterator[Cast]:
    settings.TOOLBOX_MODULES, settings.DRAIN_SECONDS = ["tests.worker.slow_tools"], 1
    monkeypatch.setenv(slow_tools.FOLDER, str(tmp_path))
    catalog.tools.cache_clear()
    yield make_cast()
    catalog.tools.cache_clear()


@pytest.fixture
def agent(people, model_server) -> Agent:
    catalog.sync()
    model = ChatModel.objects.create(name="fake", base_url=model_server.url, model_name="fake")
    agent = Agent.objects.create(name="Patient", model=model)
    agent.tools.set(Tool.objects.filter(name__in=(*TOOLS, "calculator")))
    return agent


@pytest.fixture
def process(people) -> Iterator[Process]:
    started = Process()
    started.start()
    yield started
    started.stop()


def kinds(run: Run) -> list[str]:
    return list(run.events.order_by("number").values_list("kind", flat=True))


class Working:
    """A run in the middle of what the message makes it do."""

    def __init__(self, people: Cast, agent: Agent, process: Process, text: str) -> None:
        self.run = send_message(user=people.owner, conversation=people.conversation(agent=agent), text=text).run
        self._owner = people.owner
        self._job = threading.Thread(target=process.advance, args=[str(self.run.public_id)])
        self._job.start()

    def wait(self) -> None:
        self._job.join(60)
        assert not self._job.is_alive()

    def cancel(self) -> float:
        """Seconds until the job has ended, with the run recorded as cancelled."""
        began = time.monotonic()
        cancel_run(user=self._owner, run=run_for(self._owner, self.run.public_id))
        self._job.join(60)
        took = time.monotonic() - began
        assert Run.objects.get(pk=self.run.pk).outcome == Outcome.CANCELLED
        return took


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("[[ttft=60]]", "ModelRequested"),
        ("[[tokens=3000 rate=50 ttft=0]]", "ModelRequested"),
        ("[[fail=429]]", "ModelRetried"),
    ],
    ids=["before the first word", "in the answer", "before another attempt"],
)
def test_a_model_sends_no_further_byte(people, agent, process, model_server, text, seen):
    def cancelled() -> float:
        before = model_server.stats()["requests"]
        working = Working(people, agent, process, text)
        until(lambda: seen in kinds(working.run), what=seen)
        until(lambda: model_server.stats()["requests"] > before, what="the model is asked")
        took = working.cancel()
        until(lambda: model_server.stats()["open"] == 0, what="the connection is closed")
        assert model_server.stats()["requests"] == before + kinds(working.run).count("ModelRequested")
        assert "ToolStarted" not in kinds(working.run)
        return took

    at_once(cancelled, AT_ONCE_S)


@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_is_gone_and_no_other_starts(people, agent, process, name):
    def cancelled() -> float:
        slow_tools.forget()
        working = Working(people, agent, process, f"[[call {name}]] {NEXT}")
        until(lambda: slow_tools.begun() is not None, what="the tool works")
        pids = slow_tools.begun()
        took = working.cancel()
        if pids:
            until(lambda: not any(map(lives, pids)), what="its processes are gone")
        else:
            until(slow_tools.ended, what="it has ended")
        assert kinds(working.run).count("ToolStarted") == 1
        assert kinds(working.run)[-1] == "RunFinished"
        return took

    at_once(cancelled, AT_ONCE_S)


@pytest.mark.parametrize("what", ["tool", "agent"])
def test_an_emergency_stop_ends_the_tool_and_the_run_goes_on_when_it_is_let(people, agent, process, what):
    chosen = {"tool": {"agent": None, "tool": "slow_program"}, "agent": {"agent": agent, "tool": ""}}[what]
    working = Working(people, agent, process, "[[call slow_program]] Done")
    until(lambda: slow_tools.begun() is not None, what="the tool works")
    pids = slow_tools.begun()
    halt = halting.begin(user=people.admin, kind=what, team=people.team, reason="It hangs", **chosen)
    until(lambda: Run.objects.get(pk=working.run.pk).halt == halt, what="the run is held")
    working.wait()
    until(lambda: not any(map(lives, pids)), what="its processes are gone")
    assert kinds(working.run)[-2:] == ["ToolFinished", "RunHeld"]
    halting.lift(user=people.admin, halt=halting.halt_for(people.admin, halt.public_id))
    process.advance(str(working.run.public_id))
    assert Run.objects.get(pk=working.run.pk).outcome == Outcome.ANSWERED
    assert kinds(working.run).count("ToolStarted") == 1
