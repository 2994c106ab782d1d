"""Whatever the model asks, people do and workers suffer: the record stays valid and nothing runs twice."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import aclosing
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentweb.engine.budgets import Budget, Grant, amount
from agentweb.engine.closing import cancellation
from agentweb.engine.context import Folding
from agentweb.engine.entry import CallEntry
from agentweb.engine.enums import (
    CallStatus,
    DecisionKind,
    ErrorKind,
    Invalid,
    Outcome,
    Purpose,
    Question,
    Resolution,
    Risk,
    StopAfter,
    Strategy,
    Unit,
)
from agentweb.engine.events import (
    ContextFolded,
    Event,
    MessageFinished,
    MessageInterrupted,
    ModelRequested,
    OutcomeSettled,
    QuestionDecided,
    Queued,
    RunFinished,
    RunPaused,
    SummaryRequested,
    ToolFinished,
    ToolStarted,
    TurnFinished,
    TurnStarted,
)
from agentweb.engine.loop import run
from agentweb.engine.messages import AssistantMessage, Json, Message, ToolCall, ToolResult
from agentweb.engine.ports import Allow, Ask, Deny, ModelError, Output, Progress, ToolError, ToolSpec, ToolSuspension
from agentweb.engine.recovering import Recovery
from agentweb.engine.seams import About, Block, Note, Rewrite, Stop, ThinkAgain
from agentweb.engine.spending import spent
from agentweb.engine.transcript import Asked
from agentweb.engine.usage import Limits, Usage
from tests.engine.fakes import QUESTION, FakePolicy, Shell, same, tool
from tests.engine.scripted_model import Says, ScriptedTestModel

NAMES = ("write", "again", "read", "nothing")
SAME = {"does": "ok", "rule": "free"}
ANSWERS = (MessageFinished, MessageInterrupted, ContextFolded)
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
def calls(draw: st.DrawFn, place: str, least: int = 0) -> tuple[ToolCall, ...]:
    made = []
    for n in range(draw(st.integers(least, 4))):
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
    """Draws what it says, so that it can be asked as often as the story needs; in the end it only answers. What each
    answer costs is a power of two of its own, so that any sum tells which answers are in it."""

    def __init__(self, draw: st.DrawFn, shell: Shell, *, stuck: bool) -> None:
        self.draw, self.shell, self.stuck = draw, shell, stuck
        self.busy = draw(st.booleans())
        self.said = 0
        self.reported: dict[Decimal, Usage] = {}

    def pop(self, _: int) -> Says:
        self.said += 1
        says = self.says(self.shell.model.requests[-1].purpose)
        cost = Decimal(2**self.said)
        usage = Usage(input_tokens=self.draw(st.sampled_from([0, 60, 200])), output_tokens=5, cost=cost)
        if not says.error:
            self.reported[cost] = usage
        return replace(says, usage=usage)

    def says(self, purpose: Purpose) -> Says:
        if self.said > 12:
            return Says("Enough")
        fate = self.draw(st.integers(0, 19))
        if fate == 7 and self.said > 2:
            return Says("half a", error=ModelError(ErrorKind.CONTEXT_LENGTH, "too long"))
        if fate in (9, 11) and not (self.stuck and fate == 11):
            fault = ModelError(ErrorKind.CONNECTION, "lost", retryable=fate == 9)
            return Says("half a", self.draw(calls(f"m{self.said}")), error=fault)
        if purpose is Purpose.FOLD:
            return Says(" " if fate == 13 else "In short.")
        if self.stuck and fate != 14:
            return Says("Again", (ToolCall(f"m{self.said}", "look", SAME),))
        asked = self.draw(calls(f"m{self.said}", int(self.busy)))
        return Says("Working" if asked else "Answer", asked)

    def __bool__(self) -> bool:
        return True


class Pot:
    """A budget of tokens with a soft limit, which people can fill up."""

    def __init__(self, shell: Shell, limit: int) -> None:
        self.shell, self.limit = shell, limit

    async def current(self) -> tuple[Budget, ...]:
        total, grants = Usage(), []
        for event in self.shell.events:
            total += spent(event)
            if isinstance(event, QuestionDecided) and event.arguments and "amount" in event.arguments:
                grants.append(Grant(Decimal(event.arguments["amount"]), amount(total, Unit.TOKENS)))
        used = amount(total, Unit.TOKENS)
        return (Budget("b", "p", Unit.TOKENS, Decimal(self.limit), Decimal("0.5"), used, tuple(grants)),)


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


def check_usage(shell: Shell, model: Model) -> None:
    """What is recorded as spent is what the model reported, each answer once, or of a summary that took several all of
    those; the end tells the sum."""
    recorded = [event.usage for event in shell.events if isinstance(event, ANSWERS) and event.usage.cost]
    answers = [[model.reported[cost] for cost in powers(int(usage.cost))] for usage in recorded]
    assert all(replace(usage, seconds=0) == sum(each, Usage()) for usage, each in zip(recorded, answers, strict=True))
    costs = [answer.cost for each in answers for answer in each]
    assert len(set(costs)) == len(costs)
    asked = sum(isinstance(event, ModelRequested | SummaryRequested) for event in shell.events)
    for total in (event.usage for event in shell.events if isinstance(event, RunFinished)):
        assert total == shell.usage
        assert (total.cost, total.model_calls) == (sum(usage.cost for usage in recorded), asked)


def powers(number: int) -> list[Decimal]:
    """The powers of two that it is the sum of."""
    return [Decimal(2**bit) for bit in range(number.bit_length()) if number >> bit & 1]


def check_history(messages: Iterable[Message]) -> None:
    """Each call has one result, right behind its message, in the order of the model."""
    history = list(messages)
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
    """One run through pauses, decisions, questions, messages, folds, cancels and lost workers."""

    def __init__(self, data: st.DataObject, *, stuck: bool) -> None:
        self.draw = data.draw
        meddled = not stuck and self.draw(st.booleans())
        self.shell = Shell(
            tools=(
                tool("write", behave),
                tool("again", behave, repeatable=True),
                tool("read", behave, reads=True),
                tool("look", behave, reads=True),
            ),
            policy=FakePolicy(dict.fromkeys(NAMES, verdict)),
            limits=Limits(max_turns=9 if stuck else self.draw(st.integers(1, 5)), model_attempts=2),
            sequential=self.draw(st.booleans()),
            seams=(Recovery(), Meddler(self.draw)) if meddled else (Recovery(),),
        )
        every = self.draw(st.sampled_from([None, None, 1, 2]))
        folding = Folding(self.draw(st.sampled_from(list(Strategy))), self.draw(st.integers(1, 3)), 300, every=every)
        budgets = Pot(self.shell, self.draw(st.sampled_from([300, 900, 100_000])))
        cheaper = ScriptedTestModel([], "small", self.shell.model.requests)
        spare = ScriptedTestModel([], "spare", self.shell.model.requests) if self.draw(st.booleans()) else None
        self.shell.setup = replace(self.shell.setup, folding=folding, budgets=budgets, cheaper=cheaper, fallback=spare)
        self.model = Model(self.draw, self.shell, stuck=stuck)
        for one in filter(None, (self.shell.model, cheaper, spare)):
            one.script = self.model  # type: ignore[assignment]
        self.calm = 400 if stuck else 40  # steps until somebody ends it
        self.talkative, self.messages = 1 if stuck else 3, 0
        self.looked = 0

    def chance(self, of: int) -> bool:
        """Once in so many times; the ends of a range are drawn more often than what is between."""
        return bool(self.draw(st.integers(0, of)) == of // 2)

    def disturb(self) -> None:
        """Something that a person may do at any step."""
        if self.chance(8) and self.messages < self.talkative:
            self.messages += 1
            queue = self.draw(st.sampled_from([self.shell.inbox.steer, self.shell.inbox.follow]))
            queue.append(Queued(f"q{self.messages}", "and this"))
        if self.chance(self.calm):
            self.shell.controls.stop_after = self.draw(st.sampled_from(list(StopAfter)))
        if self.chance(self.calm):
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
        last = self.shell.events[-1]
        assert isinstance(last, RunFinished) or (isinstance(last, RunPaused) and (last.calls or last.question))

    def look(self) -> None:
        """Each request that was made since the last look is one that every provider takes, and has the question."""
        for request in self.shell.model.requests[self.looked :]:
            check_history(request.messages)
            assert request.purpose is Purpose.FOLD or request.messages[0] == QUESTION
        self.looked = len(self.shell.model.requests)
        check(self.shell)
        check_usage(self.shell, self.model)

    def decide(self) -> None:
        """Somebody acts on one of the calls that the run waits for, or on its question."""
        transcript = self.shell.rebuilt()
        if transcript.question and transcript.question.waits:
            self.answer(transcript.question)
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

    def answer(self, asked: Asked) -> None:
        kind = self.draw(st.sampled_from([DecisionKind.APPROVE, DecisionKind.MODIFY, DecisionKind.REJECT]))
        offer = dict(asked.offer)
        if kind is DecisionKind.MODIFY and asked.about is Question.BUDGET:
            offer["amount"] = self.draw(st.sampled_from([0, 10, 1_000]))
            offer |= {name: self.draw(st.booleans()) for name in ("compact", "cheaper") if name in offer}
        self.shell.say(kind, arguments=None if kind is DecisionKind.REJECT else offer, comment="so")

    def possible(self, entry: CallEntry) -> list[Resolution]:
        """What somebody who looks can find: that it is not done only where it is not."""
        used = self.shell.tools.find(entry.call.name)
        ran = used is not None and any(one.get("id") == entry.call.id for one in used.runs)
        return [one for one in Resolution if not (ran and one is Resolution.NOT_DONE)]

    async def tell(self) -> None:
        for _ in range(40):
            await self.work()
            self.look()
            last = self.shell.events[-1] if self.shell.events else None
            if isinstance(last, RunFinished):
                return
            if isinstance(last, RunPaused):
                self.decide()
        self.shell.claim()
        self.shell.record(cancellation(self.shell.transcript, self.shell.usage))


@pytest.mark.parametrize("stuck", [False, True], ids=["mishaps", "stuck"])
@settings(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(data=st.data())
def test_every_story_ends_with_a_valid_record(data: st.DataObject, stuck: bool) -> None:
    story = Story(data, stuck=stuck)

    asyncio.run(story.tell())

    shell = story.shell
    assert isinstance(shell.events[-1], RunFinished)
    assert sum(isinstance(event, RunFinished) for event in shell.events) == 1
    assert shell.rebuilt().open_calls() == ()
    assert not shell.rebuilt().turn_open
    story.look()
    check_history(shell.rebuilt().history())
    check_history(shell.rebuilt().history(whole=True))
