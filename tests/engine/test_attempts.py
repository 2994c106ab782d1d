"""Tools that fail: tried again where that does no harm, and another one used instead, which is judged by itself."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace

import pytest

from agentweb.engine.enums import CallStatus, Circling, DecisionKind, ResultKind
from agentweb.engine.events import ApprovalRequested, ToolFinished, ToolProgressed, ToolReplaced, ToolStarted
from agentweb.engine.guard import circle
from agentweb.engine.keeping import Kept
from agentweb.engine.messages import Json, ToolCall, ToolResult
from agentweb.engine.ports import Deny, Output, Progress, ToolError, ToolSpec, ToolUnavailable
from tests.engine.fakes import ASK, Body, FakePolicy, FakeTool, Shell, has, tool
from tests.engine.scripted_model import Says, call

Items = AsyncIterator[Progress | Output]


def failing(*errors: BaseException) -> Body:
    """Fails so, one after the other, then works."""
    left = list(errors)

    async def body(arguments: Mapping[str, Json]) -> Items:
        if left:
            raise left.pop(0)
        yield Output("done")

    return body


def shell_with(*tools: FakeTool, policy: FakePolicy | None = None) -> Shell:
    return Shell(Says("", (call("a", tools[0].spec.name),)), Says("Done"), tools=tools, policy=policy)


def end_of(shell: Shell) -> ToolFinished:
    return next(event for event in shell.events if isinstance(event, ToolFinished))


# --- attempts -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", [ConnectionError("reset"), ToolUnavailable("Busy."), ValueError("odd")])
async def test_a_repeatable_tool_is_tried_again_with_longer_and_longer_waits(error: Exception) -> None:
    used = tool("fetch", failing(error, error, error), repeatable=True, retries=3)
    shell = await shell_with(used).go()

    assert (end_of(shell).result.content, end_of(shell).attempts) == ("done", 4)
    assert shell.slept == [0.5, 1.0, 2.0]
    assert len([event for event in shell.events if isinstance(event, ToolStarted)]) == 1
    notes = [one.text for one in shell.live if isinstance(one, ToolProgressed)]
    assert len(notes) == 3 and notes[0].endswith("It is tried again in 0.5 s.")


async def test_the_last_failure_is_told_when_no_attempt_is_left() -> None:
    used = tool("fetch", failing(*(ToolUnavailable(f"Busy {n}.") for n in range(9))), repeatable=True, retries=2)
    shell = await shell_with(used).go()
    assert end_of(shell).result == ToolResult("a", "Busy 2.", ResultKind.ERROR)
    assert end_of(shell).attempts == 3


@pytest.mark.parametrize(
    ("error", "spec"),
    [
        (ConnectionError("reset"), {"repeatable": False, "retries": 3}),
        (ConnectionError("reset"), {"repeatable": True, "retries": 0}),
        (ToolError("No such city."), {"repeatable": True, "retries": 3}),
        (FileNotFoundError(2, "No such file", "a.txt"), {"repeatable": True, "retries": 3}),
        (PermissionError(13, "Denied", "a.txt"), {"repeatable": True, "retries": 3}),
    ],
    ids=["may not run twice", "switched off", "says so itself", "missing file", "refused"],
)
async def test_what_may_do_harm_or_cannot_help_is_tried_once(error: Exception, spec: dict[str, object]) -> None:
    used = tool("fetch", failing(error), **spec)
    shell = await shell_with(used).go()
    assert (len(used.runs), end_of(shell).attempts, shell.slept) == (1, 1, [])
    assert end_of(shell).result.is_error


async def test_no_attempt_begins_that_its_time_out_would_end() -> None:
    used = tool("fetch", failing(ConnectionError("reset")), repeatable=True, retries=3, timeout_s=0.4)
    shell = await shell_with(used).go()
    assert (end_of(shell).attempts, end_of(shell).result.kind) == (1, ResultKind.ERROR)


async def test_a_cancel_does_not_wait_for_the_next_attempt() -> None:
    used = tool("fetch", failing(ConnectionError("reset")), repeatable=True, retries=3)
    shell = shell_with(used)

    async def never(seconds: float) -> None:
        shell.controls.cancel()
        await asyncio.Event().wait()

    shell.setup = replace(shell.setup, sleep=never)
    await shell.go()
    assert shell.entry("a").status is CallStatus.CANCELLED
    assert len(used.runs) == 1


# --- another tool instead -------------------------------------------------------------------------------------------


def pair(error: Exception, **spec: object) -> tuple[FakeTool, FakeTool]:
    fields: dict[str, object] = {"reads": True, "fallback": "backup", **spec}
    return tool("main", failing(*[error] * 9), **fields), tool("backup", reads=True)


async def test_another_tool_answers_and_the_model_and_the_record_know() -> None:
    main, backup = pair(ToolError("Out of order."))
    shell = await shell_with(main, backup).go()

    assert [type(event) for event in shell.events if getattr(event, "call", "") == "a"] == [
        ToolStarted,
        ToolReplaced,
        ToolStarted,
        ToolFinished,
    ]
    assert end_of(shell).name == "backup"
    told = shell.results()["a"]
    assert told == "(main failed: Out of order.\nbackup was used instead.)\ndid {}"
    assert shell.entry("a").call.name == "main"


async def test_people_are_asked_about_the_other_tool_by_itself() -> None:
    main, backup = pair(ToolError("no"), reads=False, repeatable=True, retries=0)
    backup.spec = replace(backup.spec, reads=False)
    shell = shell_with(main, backup, policy=FakePolicy({"main": ASK, "backup": ASK}))
    await shell.go()
    shell.decide("a", DecisionKind.APPROVE)
    await shell.resume()
    assert backup.runs == []
    asked = [event for event in shell.events if isinstance(event, ApprovalRequested)]
    assert [(event.name, event.replaces) for event in asked] == [("main", ""), ("backup", "")]

    shell.decide("a", DecisionKind.APPROVE)
    await shell.resume()
    assert len(main.runs) == len(backup.runs) == 1


@pytest.mark.parametrize(
    ("wrong", "policy", "kind"),
    [
        (["city is unknown"], FakePolicy(), ResultKind.INVALID_ARGUMENTS),
        ([], FakePolicy({"backup": Deny("rule", "not here")}), ResultKind.DENIED),
    ],
    ids=["arguments", "policy"],
)
async def test_another_tool_that_may_not_run_leaves_the_call_with_both_reasons(
    wrong: list[str], policy: FakePolicy, kind: ResultKind
) -> None:
    main, backup = pair(ToolError("Out of order."))
    backup.wrong = wrong
    shell = await shell_with(main, backup, policy=policy).go()
    result = end_of(shell).result
    assert result.kind is kind and backup.runs == []
    assert result.content.startswith("(main failed: Out of order.\nbackup was to be used instead.)\nNot ")


@pytest.mark.parametrize(
    ("error", "spec", "replaced"),
    [
        (ConnectionError("reset"), {"reads": False}, False),
        (ConnectionError("reset"), {"reads": False, "repeatable": True}, True),
        (ToolError("I did nothing."), {"reads": False}, False),
        (ToolError("no"), {"fallback": "nowhere"}, False),
        (ToolError("no"), {"fallback": "main"}, False),
    ],
    ids=["half done perhaps", "repeatable", "whatever it says", "not there", "itself"],
)
async def test_no_other_tool_does_again_what_may_be_done(
    error: Exception, spec: dict[str, object], replaced: bool
) -> None:
    main, backup = pair(error, **spec)
    shell = await shell_with(main, backup).go()
    assert bool(backup.runs) is replaced
    assert any(isinstance(event, ToolReplaced) for event in shell.events) is replaced


async def test_tools_that_stand_in_for_each_other_are_each_tried_once() -> None:
    main, backup = pair(ToolError("no"))
    backup = tool("backup", failing(*[ToolError("neither")] * 9), reads=True, fallback="main")
    shell = await shell_with(main, backup).go()
    assert (len(main.runs), len(backup.runs)) == (1, 1)
    assert shell.results()["a"] == "(main failed: no\nbackup was used instead.)\nneither"


async def test_a_worker_that_is_lost_before_the_other_tool_ran_leaves_it_to_the_next() -> None:
    main, backup = pair(ToolError("no"))
    backup.spec = replace(backup.spec, repeatable=True)
    shell = shell_with(main, backup)
    await shell.crash(has(ToolReplaced))
    await shell.resume()
    assert (len(main.runs), len(backup.runs)) == (1, 1)


async def test_a_worker_that_is_lost_with_the_other_tool_leaves_its_outcome_unknown() -> None:
    main, backup = pair(ToolError("no"), reads=False, repeatable=True, retries=0)
    shell = shell_with(main, replace(backup, spec=replace(backup.spec, reads=False)))
    await shell.crash(lambda step: has(ToolStarted)(step) and bool(shell.entry("a").instead))
    await shell.resume()
    assert shell.entry("a").status is CallStatus.UNKNOWN


# --- answers that are kept ------------------------------------------------------------------------------------------


@dataclass
class FakeAnswers:
    """Keeps every answer, 20 s old."""

    kept: dict[str, Output] = field(default_factory=dict)

    async def look(self, tool: ToolSpec, arguments: Mapping[str, Json]) -> Kept | None:
        found = self.kept.get(f"{tool.name} {dict(arguments)}")
        return Kept(found, 20.0) if found else None

    async def keep(self, tool: ToolSpec, arguments: Mapping[str, Json], output: Output) -> None:
        self.kept[f"{tool.name} {dict(arguments)}"] = output


def asking_twice(used: FakeTool, times: int = 2) -> tuple[Shell, FakeAnswers]:
    says = [Says("", (ToolCall(f"c{n}", "look", {"at": 1}),)) for n in range(times)]
    shell, answers = Shell(*says, Says("Done"), tools=(used,)), FakeAnswers()
    shell.setup = replace(shell.setup, answers=answers)
    return shell, answers


KEEPS = {"reads": True, "deterministic": True, "keep_s": 60.0}


async def test_the_same_question_gets_the_answer_that_was_kept() -> None:
    used = tool("look", **KEEPS)
    shell, _answers = asking_twice(used)
    await shell.go()
    first, second = (event for event in shell.events if isinstance(event, ToolFinished))
    assert (first.kept_s, second.kept_s) == (None, 20.0)
    assert first.result.content == second.result.content
    assert len(used.runs) == 1


@pytest.mark.parametrize("spec", [{"reads": False}, {"deterministic": False}, {"keep_s": 0.0}])
async def test_nothing_else_is_kept(spec: dict[str, object]) -> None:
    used = tool("look", **{**KEEPS, **spec})
    shell, answers = asking_twice(used)
    await shell.go()
    assert (len(used.runs), answers.kept) == (2, {})


async def test_a_failure_is_not_kept() -> None:
    used = tool("look", failing(ToolError("no")), **KEEPS)
    shell, _answers = asking_twice(used)
    await shell.go()
    assert [event.result.content for event in shell.events if isinstance(event, ToolFinished)] == ["no", "done"]


async def test_an_answer_that_was_kept_counts_as_a_repeat() -> None:
    shell, _answers = asking_twice(tool("look", **KEEPS), times=3)
    seen: list[Circling] = []

    def look(step: object) -> None:
        found = circle(shell.transcript, ["look"])
        seen.extend([found.sign] if found else [])

    await shell.go(look)
    assert seen[0] is Circling.SAME_CALL
