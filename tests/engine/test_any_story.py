"""Whatever the model asks, people do and workers suffer: the record stays valid and nothing runs twice."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentweb.engine.closing import cancellation
from agentweb.engine.enums import CallStatus, DecisionKind, ErrorKind, Invalid, Outcome, Resolution, Risk, StopAfter
from agentweb.engine.events import (
    Event,
    OutcomeSettled,
    Queued,
    RunFinished,
    RunPaused,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from agentweb.engine.loop import run
from agentweb.engine.messages import AssistantMessage, Json, ToolCall, ToolResult
from agentweb.engine.ports import Allow, Ask, Deny, ModelError, Output, Progress, ToolError, ToolSpec, ToolSuspension
from agentweb.engine.recovering import Recovery
from agentweb.engine.seams import About, Block, Note, Rewrite, Stop, ThinkAgain
from agentweb.engine.transcript import CallEntry
from agentweb.engine.usage import Limits
from tests.engine.fakes import FakePolicy, Says, Shell, same, tool

NAMES = ("write", "again", "read", "nothing")
OUTCOMES = ("ok", "error", "suspend", "crash", "progress", "yield")


async def behave(arguments: Mapping[str, Json]) -> AsyncIterator[Progress | Output]:
    match arguments.get("does"):
        case "error":
            raise ToolError("no")
        case "suspend":
            raise ToolSuspension("what now?")
        case "crash":
            raise ValueError("bug")
        case "progress":
            yield Progress("on it")
        case "yield":
            await asyncio.sleep(0)
    yield Output("ok")


def verdict(one: ToolCall) -> Allow | Ask | Deny:
    match (one.arguments or {}).get("rule"):
        case "ask":
            return Ask("asks", Risk.MEDIUM)
        case "deny":
            return Deny("denies", "no")
        case _:
            return Allow("free")


@st.composite
def calls(draw: st.DrawFn, place: str) -> tuple[ToolCall, ...]:
    made = []
    for n in range(draw(st.integers(0, 4))):
        arguments = {
            "does": draw(st.sampled_from(OUTCOMES)),
            "rule": draw(st.sampled_from(["free", "free", "ask", "deny"])),
            "id": f"{place}.{n}",
        }
        broken = draw(st.integers(0, 9)) == 0
        made.append(
            ToolCall(
                f"{place}.{n}",
                draw(st.sampled_from(NAMES)),
                None if broken else arguments,
                invalid=Invalid.MALFORMED if broken else None,
                recovered=draw(st.integers(0, 9)) == 0,
            )
        )
    return tuple(made)


class Model:
    """Draws what it says, so that it can be asked as often as the story needs; in the end it only answers."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw
        self.said = 0

    def pop(self, _: int) -> Says:
        self.said += 1
        if self.said > 12:
            return Says("Enough")
        error = self.draw(st.integers(0, 9))
        if error < 2:
            fault = ModelError(ErrorKind.CONNECTION, "lost", retryable=error == 0 or self.said % 2 == 0)
            return Says("half a", self.draw(calls(f"m{self.said}")), error=fault)
        asked = self.draw(calls(f"m{self.said}"))
        return Says("Working" if asked else "Answer", asked)

    def __bool__(self) -> bool:
        return True


def check(shell: Shell) -> None:
    """What must hold at every moment of every story, from the record alone."""
    transcript = shell.rebuilt()
    started = Counter(event.call for event in shell.events if isinstance(event, ToolStarted))
    started.subtract(event.call for event in shell.events if reopens(event))
    closed = Counter(event.call for event in shell.events if isinstance(event, ToolFinished))
    names = {id: entry.call.name for id, entry in transcript.calls.items()}
    assert all(count == 1 for count in closed.values())
    assert all(count <= 1 or names[id] == "again" for id, count in started.items())
    ran = Counter(one["id"] for name in ("write", "read") for one in shell.tools.tools[name].runs)
    assert all(count == 1 for count in ran.values())
    turns = [event for event in shell.events if isinstance(event, TurnStarted | TurnFinished)]
    assert [type(one) for one in turns] == ([TurnStarted, TurnFinished] * len(turns))[: len(turns)]
    assert [one.turn for one in turns] == [n // 2 + 1 for n in range(len(turns))]


def reopens(event: Event) -> bool:
    return isinstance(event, OutcomeSettled) and event.outcome is Resolution.NOT_DONE


def check_history(shell: Shell) -> None:
    """Each call has one result, right behind its message, in the order of the model."""
    history = list(shell.rebuilt().history())
    while history:
        message = history.pop(0)
        assert not isinstance(message, ToolResult), "a result without its call"
        for one in message.calls if isinstance(message, AssistantMessage) else ():
            result = history.pop(0)
            assert isinstance(result, ToolResult)
            assert result.call == one.id


class Meddler:
    """An extension that does something at every point now and then, and fails at some."""

    def __init__(self, draw: st.DrawFn) -> None:
        self.draw = draw

    def rarely(self, *answers: Any) -> Any:
        """Mostly nothing; else one of the answers, or an error."""
        if self.draw(st.integers(0, 7)):
            return None
        answer = self.draw(st.sampled_from([*answers, ValueError("no")]))
        if isinstance(answer, Exception):
            raise answer
        return answer

    async def before_run(self, about: About) -> Any:
        return self.rarely("by the way", Note("once", "key"))

    async def after_model(self, message: AssistantMessage, about: About) -> Any:
        return self.rarely(ThinkAgain("sure?"), ThinkAgain(), Stop("enough"))

    async def before_tool(self, call: ToolCall, spec: ToolSpec, arguments: Mapping[str, Json], about: About) -> Any:
        return self.rarely(Block("no"), Rewrite({**arguments, "does": "ok"}))

    async def after_tool(self, call: ToolCall, result: ToolResult, about: About) -> Any:
        return self.rarely(ToolResult("", "other"))

    async def after_acting(self, about: About) -> Any:
        return self.rarely(Stop("enough"))

    async def steering(self, about: About) -> Any:
        return self.rarely([Note("look", "look")])

    async def follow_ups(self, about: About) -> Any:
        return self.rarely("and then?")

    async def after_run(self, outcome: Outcome, about: About) -> None:
        self.rarely()


class Story:
    """One run through pauses, decisions, messages, cancels and lost workers."""

    def __init__(self, data: st.DataObject) -> None:
        self.draw = data.draw
        self.shell = Shell(
            tools=(tool("write", behave), tool("again", behave, repeatable=True), tool("read", behave, reads=True)),
            policy=FakePolicy(dict.fromkeys(NAMES, verdict)),
            limits=Limits(max_turns=self.draw(st.integers(1, 4)), model_attempts=2),
            sequential=self.draw(st.booleans()),
            seams=(Recovery(), Meddler(self.draw)) if self.draw(st.booleans()) else (Recovery(),),
        )
        self.shell.model.script = Model(self.draw)  # type: ignore[assignment]
        self.messages = 0

    def chance(self, of: int) -> bool:
        return self.draw(st.integers(1, of)) == 1

    def disturb(self) -> None:
        """Something that a person may do at any step."""
        if self.chance(8) and self.messages < 3:
            self.messages += 1
            queue = self.draw(st.sampled_from([self.shell.inbox.steer, self.shell.inbox.follow]))
            queue.append(Queued(f"q{self.messages}", "and this"))
        if self.chance(40):
            self.shell.controls.stop_after = self.draw(st.sampled_from(list(StopAfter)))
        if self.chance(40):
            self.shell.controls.cancel()

    async def work(self) -> None:
        """One job of a worker, which may be lost at any step, before or after the record of that step."""
        self.shell.claim()
        transcript = self.shell.transcript
        async with aclosing(run(transcript, self.shell.usage, self.shell.setup)) as steps:
            async for step in steps:
                if self.chance(7):
                    return
                if isinstance(step, tuple):
                    self.shell.record(step)
                self.disturb()
                if self.chance(7):
                    return
        assert same(self.shell.rebuilt(), transcript)

    def decide(self) -> None:
        """Somebody acts on one of the calls that the run waits for."""
        transcript = self.shell.rebuilt()
        waiting = [entry for entry in transcript.open_calls() if entry.waits]
        if not waiting:
            return
        entry = self.draw(st.sampled_from(waiting))
        answers: dict[str, Any] = {"comment": "so", "response": "like that"}
        if entry.status is CallStatus.UNKNOWN:
            self.shell.settle(entry.call.id, self.draw(st.sampled_from(self.possible(entry))))
        if entry.status is CallStatus.SUSPENDED:
            self.shell.supply(entry.call.id, "like that", is_error=self.draw(st.booleans()))
        if entry.status is not CallStatus.WAITING:
            return
        kind = self.draw(st.sampled_from(list(DecisionKind)))
        if kind is DecisionKind.MODIFY:
            answers["arguments"] = {
                "does": "ok",
                "rule": self.draw(st.sampled_from(["free", "ask", "deny"])),
                "id": entry.call.id,
            }
        self.shell.decide(entry.call.id, kind, **answers)

    def possible(self, entry: CallEntry) -> list[Resolution]:
        """What somebody who looks can find: that it is not done only where it is not."""
        used = self.shell.tools.find(entry.call.name)
        ran = used is not None and any(one["id"] == entry.call.id for one in used.runs)
        return [one for one in Resolution if not (ran and one is Resolution.NOT_DONE)]

    async def tell(self) -> None:
        for _ in range(40):
            await self.work()
            check(self.shell)
            last = self.shell.events[-1] if self.shell.events else None
            if isinstance(last, RunFinished):
                return
            if isinstance(last, RunPaused):
                self.decide()
        self.shell.claim()
        self.shell.record(cancellation(self.shell.transcript, self.shell.usage))


@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(st.data())
def test_every_story_ends_with_a_valid_record(data: st.DataObject) -> None:
    story = Story(data)

    asyncio.run(story.tell())

    shell = story.shell
    assert isinstance(shell.events[-1], RunFinished)
    assert sum(isinstance(event, RunFinished) for event in shell.events) == 1
    assert shell.rebuilt().open_calls() == ()
    assert not shell.rebuilt().turn_open
    check(shell)
    check_history(shell)
