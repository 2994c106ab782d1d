"""What becomes of each tool call: order, errors, progress, results from outside."""

import asyncio
from collections.abc import AsyncIterator, Mapping

import pytest

from agentweb.engine.enums import CallStatus, Invalid, ResultKind, Risk, StopAfter
from agentweb.engine.events import RunFinished, RunPaused, ToolFinished, ToolProgressed, ToolStarted, ToolSuspended
from agentweb.engine.messages import Json, ToolCall, ToolResult
from agentweb.engine.ports import Allow, Ask, Deny, Output, Progress, ToolError, ToolSuspension
from tests.engine.fakes import ASK, FakePolicy, FakeTool, Shell, has, tool
from tests.engine.scripted_model import Says, call

Items = AsyncIterator[Progress | Output]


def raising(error: BaseException) -> FakeTool:
    async def body(arguments: Mapping[str, Json]) -> Items:
        raise error
        yield

    return tool("write", body)


async def asks_for(one: ToolCall, used: FakeTool, **shell: object) -> ToolResult:
    """The result of one call, after which the model has answered."""
    done = await Shell(Says("", (one,)), Says("Done"), tools=(used,), **shell).go()  # type: ignore[arg-type]
    result = done.entry(one.id).result
    assert result is not None
    assert done.entry(one.id).status in (CallStatus.FINISHED, CallStatus.REJECTED)
    return result


# --- what a call can end in ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (ToolError("The city is unknown."), ResultKind.ERROR, "The city is unknown."),
        (ToolError(), ResultKind.ERROR, "The tool failed unexpectedly: ToolError"),
        (ValueError("odd"), ResultKind.ERROR, "The tool failed unexpectedly: ValueError: odd"),
        (TimeoutError(), ResultKind.ERROR, "The tool failed unexpectedly: TimeoutError"),
        (FileNotFoundError(2, "No such file", "/srv/a/notes.txt"), ResultKind.ERROR, "File not found: notes.txt"),
        (PermissionError(13, "Denied", "/srv/a/notes.txt"), ResultKind.ERROR, "Permission refused: notes.txt"),
        (SystemExit(3), ResultKind.ERROR, "The tool failed unexpectedly: SystemExit: 3"),
        (asyncio.CancelledError(), ResultKind.ERROR, "The tool failed unexpectedly: CancelledError"),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_an_error_of_a_tool_becomes_text_for_the_model(error: BaseException, kind: ResultKind, text: str) -> None:
    assert await asks_for(call("a"), raising(error)) == ToolResult("a", text, kind)


@pytest.mark.parametrize(
    ("one", "kind", "text"),
    [
        (
            ToolCall("a", "write", None, '{"x"', invalid=Invalid.TRUNCATED, detail="The text ends after 4 characters."),
            ResultKind.INVALID_ARGUMENTS,
            "Not run: the arguments were cut off before their end. The text ends after 4 characters. "
            'Send the call again with corrected arguments. Their form: {"type":"object"}',
        ),
        (
            ToolCall("a", "write", None, "[1]", invalid=Invalid.NOT_OBJECT),
            ResultKind.INVALID_ARGUMENTS,
            "Not run: the arguments must be one JSON object. Send the call again with corrected arguments. "
            'Their form: {"type":"object"}',
        ),
        (call("a", "wirte"), ResultKind.UNKNOWN_TOOL, "There is no tool named 'wirte'. Available tools: write."),
        (call("a", bad=1), ResultKind.INVALID_ARGUMENTS, "Not run: the arguments are not valid.\n- bad is unknown"),
    ],
    ids=["truncated", "not an object", "unknown tool", "wrong arguments"],
)
async def test_a_call_that_cannot_run_gets_the_reason_and_nobody_is_asked(
    one: ToolCall, kind: ResultKind, text: str
) -> None:
    used, policy = tool("write"), FakePolicy({"write": ASK})

    assert await asks_for(one, used, policy=policy) == ToolResult("a", text, kind)
    assert (used.runs, policy.asked) == ([], [])


async def test_a_call_that_policy_denies_gets_the_reason() -> None:
    used = tool("write")
    policy = FakePolicy({"write": Deny("no writes on Sunday", "It is Sunday.")})

    assert await asks_for(call("a"), used, policy=policy) == ToolResult(
        "a", "Not allowed by policy: It is Sunday.", ResultKind.DENIED
    )
    assert used.runs == []


async def test_the_record_names_the_rule_that_refused_a_call() -> None:
    policy = FakePolicy({"write": Deny("no writes on Sunday", "It is Sunday.")})
    shell = await Shell(Says("", (call("a"),)), Says("Done"), tools=(tool("write"),), policy=policy).go()

    assert [event.rule for event in shell.events if isinstance(event, ToolFinished)] == ["no writes on Sunday"]


async def test_a_tool_that_cannot_check_its_arguments_does_not_end_the_run() -> None:
    used = tool("write")
    used.wrong = ValueError("bad schema")

    result = await asks_for(call("a"), used)

    assert result.kind is ResultKind.ERROR
    assert used.runs == []


async def test_a_slow_tool_is_ended_and_the_model_told_after_how_long() -> None:
    async def body(arguments: Mapping[str, Json]) -> Items:
        await asyncio.Event().wait()
        yield Output("never")

    used = tool("write", body, timeout_s=0.01)

    result = await asks_for(call("a"), used)

    assert result.kind is ResultKind.TIMEOUT
    assert result.content.startswith("The tool did not finish within 0.01 seconds")
    assert used.stopped == 1


@pytest.mark.parametrize("content", ["", "  \n", None])
async def test_no_output_is_said_in_words(content: str | None) -> None:
    async def body(arguments: Mapping[str, Json]) -> Items:
        if content is not None:
            yield Output(content)

    assert await asks_for(call("a"), tool("write", body)) == ToolResult("a", "(no output)")


async def test_the_whole_output_is_kept_for_people() -> None:
    async def body(arguments: Mapping[str, Json]) -> Items:
        yield Output("short", full="the whole text")

    assert await asks_for(call("a"), tool("write", body)) == ToolResult("a", "short", full="the whole text")


async def test_progress_is_shown_and_not_recorded() -> None:
    async def body(arguments: Mapping[str, Json]) -> Items:
        yield Progress("half way", 0.5)
        yield Output("ok")

    shell = await Shell(Says("", (call("a"),)), Says("Done"), tools=(tool("write", body),)).go()

    assert [one for one in shell.live if isinstance(one, ToolProgressed)] == [ToolProgressed("a", "half way", 0.5)]


@pytest.mark.parametrize(
    ("content", "is_error", "kind", "text"),
    [
        ("Rome", False, ResultKind.OK, "Rome"),
        ("no such city", True, ResultKind.ERROR, "no such city"),
        ("", False, ResultKind.OK, "(no output)"),
    ],
)
async def test_a_result_from_outside_closes_the_call_without_running_it(
    content: str, is_error: bool, kind: ResultKind, text: str
) -> None:
    used = raising(ToolSuspension("Which city?"))
    shell = await Shell(Says("", (call("a"),)), Says("Done"), tools=(used,)).go()

    shell.supply("a", content, is_error=is_error)
    await shell.resume()

    result = shell.entry("a").result
    assert result is not None
    assert (result.kind, result.content) == (kind, text)
    assert shell.kinds[4] == "ResultReceived ToolFinished TurnFinished TurnStarted ModelRequested"
    assert len(used.runs) == 1


async def test_a_suspended_call_records_what_its_answer_must_fit() -> None:
    wanted = {"type": "object", "properties": {"city": {"type": "string"}}}
    shell = await Shell(Says("", (call("a"),)), tools=(raising(ToolSuspension("Which city?", wanted)),)).go()
    assert shell.events[-2] == ToolSuspended("a", "write", "Which city?", wanted)


async def test_of_two_suspended_calls_one_result_leaves_the_other_waiting() -> None:
    used = raising(ToolSuspension("Which city?"))
    shell = Shell(Says("", (call("a", "read"), call("b", "read"))), Says("Done"))
    shell.tools.tools["read"] = FakeTool(tool("read", reads=True).spec, used.body)
    await shell.go()

    shell.supply("b", "Rome")
    await shell.resume()

    assert shell.kinds[-1] == "ResultReceived ToolFinished RunPaused"
    shell.supply("a", "Paris")
    await shell.resume()
    assert shell.results() == {"a": "Paris", "b": "Rome"}
    assert isinstance(shell.events[-1], RunFinished)


@pytest.mark.parametrize("after", list(StopAfter))
async def test_a_stop_counts_when_every_call_is_suspended(after: StopAfter) -> None:
    used = raising(ToolSuspension("Which city?"))
    shell = await Shell(Says("", (call("a"),)), tools=(used,)).go()

    shell.controls.stop_after = after
    await shell.resume()

    assert shell.kinds[-1] == "ToolFinished TurnFinished RunFinished"
    assert shell.results() == {
        "a": "The run was stopped by the user while this call waited for an answer from outside."
    }


async def test_a_tool_that_waits_for_an_answer_from_outside_suspends_the_run() -> None:
    shell = await Shell(Says("", (call("a"),)), tools=(raising(ToolSuspension("Which city?")),)).go()

    assert shell.kinds[-1] == "ToolSuspended RunPaused"
    assert shell.entry("a").status is CallStatus.SUSPENDED
    assert isinstance(shell.events[-1], RunPaused)
    assert shell.events[-1].calls == ("a",)


# --- order --------------------------------------------------------------------------------------------------------


class Stage:
    """Tools that note when they begin and end, and end when the test lets them."""

    def __init__(self) -> None:
        self.log: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}

    def tool(self, name: str, **spec: object) -> FakeTool:
        async def body(arguments: Mapping[str, Json]) -> Items:
            self.log.append(f"{arguments['n']} begins")
            if gate := self.gates.get(str(arguments["n"])):
                await gate.wait()
            self.log.append(f"{arguments['n']} ends")
            yield Output(f"result {arguments['n']}")

        return tool(name, body, **spec)

    def tools(self) -> tuple[FakeTool, ...]:
        return self.tool("write"), self.tool("read", reads=True)


def mixed(*names: str) -> tuple[ToolCall, ...]:
    return tuple(call(f"c{n}", name, n=n) for n, name in enumerate(names))


async def test_reads_run_together_and_writes_in_the_order_of_the_model() -> None:
    stage = Stage()
    shell = await Shell(Says("", mixed("write", "read", "write", "read")), Says("Done"), tools=stage.tools()).go()

    starts = [[e.call for e in batch if isinstance(e, ToolStarted)] for batch in shell.batches]
    assert [one for one in starts if one] == [["c0", "c1", "c3"], ["c2"]]
    assert shell.kinds[-3:] == [
        "ToolFinished ToolFinished ToolFinished ToolStarted",
        "ToolFinished TurnFinished TurnStarted ModelRequested",
        "MessageFinished TurnFinished RunFinished",
    ]
    assert stage.log[-2:] == ["2 begins", "2 ends"]
    sent = [m for m in shell.model.requests[1].messages if isinstance(m, ToolResult)]
    assert [one.content for one in sent] == ["result 0", "result 1", "result 2", "result 3"]


async def test_strictly_sequential_one_call_runs_at_a_time() -> None:
    stage = Stage()
    shell = await Shell(
        Says("", mixed("read", "read", "write", "read")), Says("Done"), tools=stage.tools(), sequential=True
    ).go()

    assert stage.log == [f"{n} {what}" for n in range(4) for what in ("begins", "ends")]
    assert [len(batch) for batch in shell.batches if has(ToolStarted)(batch)] == [1, 2, 2, 2]


async def test_results_are_recorded_as_they_come_and_kept_in_the_order_of_the_model() -> None:
    stage = Stage()
    stage.gates = {"0": asyncio.Event()}
    shell = Shell(Says("", mixed("read", "read")), Says("Done"), tools=stage.tools())

    await shell.go(lambda step: stage.gates["0"].set() if has(ToolFinished)(step) else None)

    assert [e.call for e in shell.events if isinstance(e, ToolFinished)] == ["c1", "c0"]
    sent = [m.call for m in shell.model.requests[1].messages if isinstance(m, ToolResult)]
    assert sent == ["c0", "c1"]


async def test_a_write_waits_for_an_earlier_write_that_waits_for_people_and_reads_do_not() -> None:
    stage = Stage()
    asked = FakePolicy({"write": lambda one: ASK if one.id == "c0" else Allow("free")})
    shell = await Shell(Says("", mixed("write", "write", "read")), tools=stage.tools(), policy=asked).go()

    assert shell.kinds[2:] == ["ApprovalRequested ToolStarted", "ToolFinished RunPaused"]
    assert stage.log == ["2 begins", "2 ends"]
    assert shell.entry("c1").status is CallStatus.OPEN
    assert isinstance(shell.events[-1], RunPaused)
    assert shell.events[-1].calls == ("c0",)


async def test_a_write_does_not_wait_for_a_refused_one() -> None:
    stage = Stage()
    refused = FakePolicy({"write": lambda one: Deny("no", "no") if one.id == "c0" else Allow("free")})
    shell = await Shell(Says("", mixed("write", "write")), Says("Done"), tools=stage.tools(), policy=refused).go()

    assert shell.kinds[2] == "ToolFinished ToolStarted"
    assert stage.log == ["1 begins", "1 ends"]


async def test_policy_is_asked_again_right_before_a_later_write_starts() -> None:
    stage = Stage()
    policy = FakePolicy()
    shell = Shell(Says("", mixed("write", "write")), tools=stage.tools(), policy=policy)

    def forbid(step: object) -> None:
        if has(ToolStarted)(step):  # type: ignore[arg-type]
            policy.rules["write"] = Ask("tightened", Risk.HIGH)

    await shell.go(forbid)

    assert policy.asked == [("c0", "c1"), ("c1",)]
    assert stage.log == ["0 begins", "0 ends"]
    assert shell.entry("c1").status is CallStatus.WAITING
