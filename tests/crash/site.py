"""The site under test: its workers obey orders to die, its agent has tools that leave traces, and a person uses it."""

import os
import re
import signal
import sys
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx2

from agentweb.launch.child import Command
from agentweb.registry.models import Agent, Tool
from agentweb.runs.models import Call, Message, Run, WorkerProcess
from agentweb.teams.models import User
from agentweb.teams.tokens import create_token
from tests.crash.traces import FOLDER, Traces
from tests.stack import READY_SECONDS, Stack
from tests.waiting import until

TOOLS = ("crash_set", "crash_look", "crash_pay", "crash_ask")
AGENT = "Crash dummy"
WHO = "ann"
WORKER = re.compile(r"worker-\d+")
LONG_S = 120.0  # for whatever waits for the end of a lease or the start of a process, on a machine that is busy


class Site(Stack):
    """Workers get a new number each time one is started, so that each has a log of its own."""

    def __init__(self, folder: Path, database_url: str) -> None:
        self.traces = Traces(folder / "traces")
        super().__init__(folder, database_url, TOOLBOX_MODULES="tests.crash.tools", **{FOLDER: str(folder / "traces")})
        self.env |= {"OPENAI_BASE_URL": self.model_url, "OPENAI_MODEL": "fake"}
        self.worker_env: dict[str, str] = {}
        self._number = 0

    def open(self) -> None:
        """Prepare the data, start everything and one worker."""
        self.start("model", "valkey")
        self.prepare()
        self.one_more()
        self.start("web")
        self.wait_until_ready()

    def repair(self) -> None:
        """Start again what a test that failed has left killed."""
        self.start(*(name for name in ("valkey", "web") if name not in self._running))

    @cached_property
    def person(self) -> "Person":
        agent = Agent.objects.create(name=AGENT)
        agent.tools.set(Tool.objects.filter(name__in=TOOLS))
        return Person(self)

    @property
    def workers(self) -> list[str]:
        return sorted(name for name in self._running if WORKER.fullmatch(name))

    def one_more(self) -> str:
        """Start a worker; it is not ready yet, and takes what waits when it is."""
        self._number += 1
        name = f"worker-{self._number}"
        self.start(name)
        return name

    def just(self, count: int) -> list[str]:
        """As many workers that are ready as asked for."""
        self.kill(*self.workers[count:])
        while len(self.workers) < count:
            self.one_more()
        for name in self.workers:
            until(lambda name=name: self._is_ready(name), READY_SECONDS, f"{name} is ready")
        return self.workers

    def dies(self, name: str) -> None:
        """Wait until a worker has followed its order."""
        until(lambda: self._running[name].process.poll() is not None, LONG_S, f"{name} kills itself")
        assert self._running[name].process.returncode == -signal.SIGKILL, self.log(name)[-3000:]
        self.kill(name)

    def leaves(self, name: str, seconds: float) -> None:
        """Wait until a worker that was asked to has ended by itself."""
        until(lambda: self._running[name].process.poll() is not None, seconds, f"{name} leaves")
        assert self._running[name].process.returncode == 0, self.log(name)[-3000:]
        self.kill(name)

    def signal(self, name: str, number: signal.Signals) -> None:
        os.kill(self.pid(name), number)

    def holder(self, run: "Asked") -> str:
        """The worker that has the run, "" when none."""
        worker = run.row.owner
        pid = worker.name.rpartition(":")[2] if worker else ""
        return next((name for name in self.workers if str(self.pid(name)) == pid), "")

    def _is_ready(self, name: str) -> bool:
        assert self._running[name].process.poll() is None, self.log(name)[-3000:]
        return WorkerProcess.objects.filter(name__endswith=f":{self.pid(name)}").exists()

    def _command(self, name: str) -> Command:
        command = super()._command(name)
        if not WORKER.fullmatch(name):
            return command
        argv = (sys.executable, "-m", "tests.crash.killing_worker", *command.argv[3:])
        return replace(command, argv=argv, env={**command.env, **self.worker_env})


@dataclass(frozen=True, slots=True)
class Asked:
    """A run that the person has asked for, as the rows tell of it now."""

    id: str
    conversation: str

    @property
    def row(self) -> Run:
        return Run.objects.select_related("owner").get(public_id=self.id)

    @property
    def kinds(self) -> list[str]:
        return list(self.row.events.order_by("number").values_list("kind", flat=True))

    @property
    def calls(self) -> list[Call]:
        return list(self.row.calls.order_by("message_id", "position"))

    @property
    def messages(self) -> list[Message]:
        return list(self.row.messages.filter(role=Message.Role.ASSISTANT).order_by("pk"))

    def comes_to(self, *statuses: str) -> Run:
        """Wait for one of these states."""
        until(lambda: self.row.status in statuses, LONG_S, f"run {self.id} is {' or '.join(statuses)}")
        return self.row

    def does(self, kind: str, times: int = 1) -> None:
        """Wait for events of this kind."""
        until(lambda: self.kinds.count(kind) >= times, LONG_S, f"{times} × {kind} in {self.id}")

    def ends(self) -> Run:
        return self.comes_to(Run.Status.FINISHED)


class Person:
    """What a member of the team does with the site: over HTTP, with a token, or with a browser's session."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self.token = create_token(user=User.objects.get(username=WHO), name="crash tests")
        self.api = site.client(self.token)

    def asks(self, text: str) -> Asked:
        """Say something in a new conversation."""
        conversation = self.new_conversation()
        return self.says(conversation, text)

    def new_conversation(self) -> str:
        return self.gets("post", "/conversations", json={"agent": AGENT})["id"]

    def says(self, conversation: str, text: str) -> Asked:
        sent = self.gets("post", f"/conversations/{conversation}/messages", json={"text": text})
        return Asked(sent["run"], conversation)

    def cancels(self, run: Asked) -> None:
        self.gets("post", f"/runs/{run.id}/cancel")

    def approves(self, approval: dict[str, Any]) -> None:
        decision = {"decision": "approve", "digest": approval["digest"]}
        self.gets("post", f"/approvals/{approval['id']}/decision", json=decision)

    def gets(self, method: str, path: str, **more: Any) -> Any:
        """The JSON that the API answers. A web process that has just been killed is asked again."""
        answer = self.api.request(method.upper(), f"/api/v1{path}", **more)
        assert answer.is_success, (answer.status_code, answer.text)
        return answer.json()

    def sees(self, run: Asked) -> str:
        """The page of the conversation, as HTML."""
        with self._site.client() as browser:
            form = browser.get("/accounts/login/")
            fields = {"login": WHO, "password": self._site.passwords[WHO]}
            token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form.text)
            assert token is not None
            browser.post("/accounts/login/", data={**fields, "csrfmiddlewaretoken": token[1]})
            page = browser.get(f"/c/{run.conversation}/")
        assert page.status_code == httpx2.codes.OK, page.status_code
        return page.text
