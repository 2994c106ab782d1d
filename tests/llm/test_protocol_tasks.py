"""Models of each protocol in the real loop: tasks come to the same, and a reply of no form is asked for again."""

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentweb.engine.enums import DecisionKind, Outcome, Reason, Risk
from agentweb.engine.events import ApprovalRequested, Event, MessageFinished, RunFinished, ToolFinished
from agentweb.engine.messages import ToolCall, UserMessage
from agentweb.engine.ports import Allow, Ask, Tool, ToolContext, ToolSpec, Verdict
from agentweb.engine.transcript import Transcript
from agentweb.engine.usage import Limits
from agentweb.llm.config import ToolProtocol
from agentweb.llm.protocols.rules import INVENTED
from agentweb.llm.scripted.model import ScriptedModel
from agentweb.toolbox import catalog
from tests.e2e.program import Told
from tests.e2e.tasks import TASKS, Task
from tests.engine.fakes import Shell, tool
from tests.llm.in_memory import Speaking

EVERYDAY = ("current_time", "calculator", "weather")
TURNS = {"Assistant": 10, "Builder": 10, "Hasty": 1}
ALL = catalog.load()


class RealTools:
    """Those of one agent, at work in one folder."""

    def __init__(self, agent: str, folder: Path) -> None:
        self._tools = {name: tool for name, tool in ALL.items() if agent == "Builder" or name in EVERYDAY}
        self._folder = folder

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(tool.spec for tool in self._tools.values())

    def find(self, name: str) -> Tool | None:
        return self._tools.get(name)

    def context(self, call: str) -> ToolContext:
        return ToolContext(call, self._folder, lambda: datetime.now(UTC), lambda: False)


class ByRisk:
    """People are asked about everything that is not of low risk."""

    async def judge(self, calls: tuple[tuple[ToolCall, ToolSpec], ...]) -> tuple[Verdict, ...]:
        return tuple(Allow("low runs") if spec.risk is Risk.LOW else Ask("others ask", spec.risk) for _, spec in calls)


class Played(Shell):
    """A run of one task; Ann approves whatever is asked."""

    def __init__(self, task: Task, protocol: ToolProtocol, folder: Path) -> None:
        self._question = UserMessage("u1", task.english, "Ann")
        super().__init__(limits=Limits(max_turns=TURNS[task.agent]))
        model = ScriptedModel(delay_s=0, new_id=self._new_id, protocol=protocol)
        self.setup = replace(self.setup, model=model, tools=RealTools(task.agent, folder), policy=ByRisk())
        self._folder = folder

    def rebuilt(self) -> Transcript:
        transcript = Transcript([self._question])
        for event in self.events:
            transcript.apply(event)
        return transcript

    def all(self, kind: type[Event]) -> list:
        return [event for event in self.events if isinstance(event, kind)]

    async def to_the_end(self) -> Told:
        await self.go()
        while not self.all(RunFinished):
            for asked in self.all(ApprovalRequested):
                self.decide(asked.call, DecisionKind.APPROVE, comment="looked at")
            await self.resume()
        return self._told()

    def _told(self) -> Told:
        calls = tuple(
            (each.name, "failed" if each.result.is_error else each.status.value) for each in self.all(ToolFinished)
        )
        (end,) = self.all(RunFinished)
        answer = self.all(MessageFinished)[-1].message.text
        usage = {name: getattr(end.usage, name) for name in end.usage.__dataclass_fields__}
        files = {path.name: path.read_text() for path in self._folder.rglob("*") if path.is_file()}
        return Told(calls, len(self.all(ApprovalRequested)), answer, end.outcome.value, usage, files)


@pytest.fixture
def play(tmp_path: Path) -> Callable:
    async def played(task: Task, protocol: ToolProtocol) -> Told:
        folder = tmp_path / protocol
        folder.mkdir()
        return await Played(task, protocol, folder).to_the_end()

    return played


def with_one_call_a_turn(task: Task) -> Task:
    turns = min(len(task.names) + 1, TURNS[task.agent])
    return replace(task, turns=(turns, turns))


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
async def test_the_loop_gets_a_task_done_with_any_protocol(task, play):
    native = await play(task, ToolProtocol.NATIVE)
    task.check(native)
    for protocol in (ToolProtocol.TEXT, ToolProtocol.JSON_ACTION):
        told = await play(task, protocol)
        with_one_call_a_turn(task).check(told)
        assert (told.calls, told.files, told.outcome) == (native.calls, native.files, native.outcome)
        if task is not TASKS["date"]:  # the minute may have changed
            assert told.answer == native.answer


# --- replies that keep to no form -------------------------------------------------------------------------------------

BOTH = {
    ToolProtocol.TEXT: 'Thought: Hm.\nAction: write\nAction Input: {"n": 1}\nFinal Answer: It is written.',
    ToolProtocol.JSON_ACTION: '{"thought": "Hm.", "tool_name": "write", "final_answer": "It is written."}',
}
CALL = {
    ToolProtocol.TEXT: 'Thought: Then so.\nAction: write\nAction Input: {"n": 1}',
    ToolProtocol.JSON_ACTION: '{"thought": "So.", "step": "CALL_TOOL", "tool_name": "write", "arguments": {"n": 1}}',
}
DONE = {
    ToolProtocol.TEXT: "Thought: I know.\nFinal Answer: It is written.",
    ToolProtocol.JSON_ACTION: '{"thought": "I know.", "step": "FINISH", "final_answer": "It is written."}',
}


def told(protocol: ToolProtocol, *texts: str, max_reasks: int = 2) -> tuple[Shell, Speaking]:
    shell = Shell(tools=(tool("write"),), limits=Limits(max_turns=20, max_reasks=max_reasks))
    model = Speaking(protocol, *texts)
    shell.setup = replace(shell.setup, model=model, guard=False)
    return shell, model


@pytest.mark.parametrize("protocol", BOTH)
async def test_a_call_beside_an_answer_is_asked_for_again_with_the_rule(protocol):
    run, model = told(protocol, BOTH[protocol], CALL[protocol], DONE[protocol])
    await run.go()
    assert [dict(arguments) for arguments in run.tools.tools["write"].runs] == [{"n": 1}]
    assert run.events[-1].outcome is Outcome.ANSWERED
    refusal = model.bodies[1]["messages"][-1]["content"]
    assert "never stand in the same reply" in refusal and "did not keep to its form" in refusal
    assert [message["role"] for message in model.bodies[2]["messages"]][-2:] == ["assistant", "user"]


@pytest.mark.parametrize("protocol", BOTH)
async def test_a_model_that_never_keeps_to_the_form_is_not_asked_for_ever(protocol):
    replies = [BOTH[protocol], "Thought: I will do it.", BOTH[protocol], "Not done."]
    run, model = told(protocol, *replies)
    await run.go()
    assert (run.events[-1].outcome, run.events[-1].reason) == (Outcome.LIMIT_REACHED, Reason.MALFORMED)
    assert len(model.bodies) == 4 and not run.tools.tools["write"].runs


async def test_an_invented_result_is_left_out_and_the_model_is_told():
    invented = f"{CALL[ToolProtocol.TEXT]}\nObservation: 99 rows\nFinal Answer: 99 rows."
    run, model = told(ToolProtocol.TEXT, invented, DONE[ToolProtocol.TEXT])
    await run.go()
    assert "99" not in str(model.bodies[1]) and model.bodies[1]["messages"][-1]["content"].endswith(INVENTED)
    (first, last) = (event.message for event in run.events if isinstance(event, MessageFinished))
    assert first.extra["invented"]["text"].startswith("99 rows") and (first.text, last.text) == ("", "It is written.")
