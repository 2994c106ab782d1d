"""Tools, a policy, an inbox and controls that do what a test says, and a shell that records what comes out."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentweb.engine.entry import CallEntry
from agentweb.engine.enums import (
    CallStatus,
    DecisionKind,
    ErrorKind,
    Resolution,
    Risk,
    StopAfter,
)
from agentweb.engine.events import (
    ApprovalRequested,
    Batch,
    Event,
    FollowUpTaken,
    Live,
    MessageInterrupted,
    ModelFault,
    OutcomeSettled,
    QuestionAsked,
    Queued,
    ResultReceived,
    SteeringTaken,
    Step,
)
from agentweb.engine.loop import run
from agentweb.engine.messages import Json, ToolCall, UserMessage
from agentweb.engine.ports import (
    Allow,
    Answer,
    Ask,
    Decision,
    Finding,
    Goal,
    Output,
    Preview,
    Progress,
    ToolContext,
    ToolSpec,
    Unsure,
    Verdict,
)
from agentweb.engine.recovering import Recovery
from agentweb.engine.seams import Seams
from agentweb.engine.setup import Setup
from agentweb.engine.spending import spent
from agentweb.engine.transcript import Transcript
from agentweb.engine.usage import Limits, Usage
from tests.engine.scripted_model import Says, ScriptedTestModel

ASK = Ask("medium asks", Risk.MEDIUM)
QUESTION = UserMessage("u1", "Do it", "Ann")


Body = Callable[[Mapping[str, Json]], AsyncIterator[Progress | Output]]


async def ok(arguments: Mapping[str, Json]) -> AsyncIterator[Progress | Output]:
    yield Output(f"did {dict(arguments)}")


@dataclass
class FakeTool:
    """A tool that remembers with what it ran."""

    spec: ToolSpec
    body: Body = ok
    wrong: list[str] | Exception = field(default_factory=list)
    shows: Preview | Exception | None = None
    runs: list[Mapping[str, Json]] = field(default_factory=list)
    stopped: int = 0
    finds: Finding | Exception = field(default_factory=Unsure)

    def problems(self, arguments: Mapping[str, Json]) -> list[str]:
        if isinstance(self.wrong, Exception):
            raise self.wrong
        return self.wrong or [f"{name} is unknown" for name in arguments if name == "bad"]

    def preview(self, arguments: Mapping[str, Json], context: ToolContext) -> Preview | None:
        if isinstance(self.shows, Exception):
            raise self.shows
        return self.shows

    async def execute(self, arguments: Mapping[str, Json], context: ToolContext) -> AsyncIterator[Progress | Output]:
        self.runs.append(arguments)
        try:
            async for item in self.body(arguments):
                yield item
        except asyncio.CancelledError:
            self.stopped += 1
            raise

    async def check(self, arguments: Mapping[str, Json], context: ToolContext) -> Finding:
        if isinstance(self.finds, Exception):
            raise self.finds
        return self.finds


def tool(name: str, body: Body = ok, **spec: Any) -> FakeTool:
    fields = {"label": name, "description": name, "parameters": {"type": "object"}, "digest": f"{name}-1", **spec}
    return FakeTool(ToolSpec(name, **fields), body)


class FakeToolset:
    def __init__(self, *tools: FakeTool) -> None:
        self.tools = {one.spec.name: one for one in tools}

    @property
    def specs(self) -> tuple[ToolSpec, ...]:
        return tuple(one.spec for one in self.tools.values())

    def find(self, name: str) -> FakeTool | None:
        return self.tools.get(name)

    def context(self, call: str) -> ToolContext:
        return ToolContext(call, Path("nowhere"), lambda: datetime.now(UTC), lambda: False)


@dataclass
class FakePolicy:
    """A verdict by tool name, or from a function of the call; everything else is allowed."""

    rules: dict[str, Verdict | Callable[[ToolCall], Verdict]] = field(default_factory=dict)
    asked: list[tuple[str, ...]] = field(default_factory=list)
    error: Exception | None = None

    async def judge(self, calls: tuple[tuple[ToolCall, ToolSpec], ...]) -> tuple[Verdict, ...]:
        if self.error:
            raise self.error
        self.asked.append(tuple(one.id for one, _ in calls))
        return tuple(self._one(one) for one, _ in calls)

    def _one(self, one: ToolCall) -> Verdict:
        rule = self.rules.get(one.name, Allow("low runs"))
        return rule(one) if callable(rule) else rule


@dataclass
class FakeInbox:
    """Messages that wait. Looking takes nothing; ``recorded`` removes what an event took."""

    steer: list[Queued] = field(default_factory=list)
    follow: list[Queued] = field(default_factory=list)
    one_at_a_time: bool = False

    async def steering(self) -> tuple[Queued, ...]:
        return tuple(self.steer[:1] if self.one_at_a_time else self.steer)

    async def follow_ups(self) -> tuple[Queued, ...]:
        return tuple(self.follow[:1] if self.one_at_a_time else self.follow)

    def recorded(self, event: Event) -> None:
        for kind, waiting in ((SteeringTaken, self.steer), (FollowUpTaken, self.follow)):
            if isinstance(event, kind):
                for one in event.messages:
                    waiting.remove(one)


class FakeControls:
    def __init__(self) -> None:
        self.event = asyncio.Event()
        self.stop_after: StopAfter | None = None

    @property
    def cancelled(self) -> bool:
        return self.event.is_set()

    def cancel(self) -> None:
        self.event.set()

    async def wait_cancelled(self) -> None:
        await self.event.wait()


OnStep = Callable[[Step], None]


class Shell:
    """Records batches, keeps the totals, and can start anew from what was recorded, as a worker after a crash does."""

    def __init__(
        self,
        *script: Says,
        tools: tuple[FakeTool, ...] = (),
        policy: FakePolicy | None = None,
        limits: Limits | None = None,
        sequential: bool = False,
        seams: tuple[object, ...] = (Recovery(),),
        goals: tuple[Goal, ...] = (),
    ) -> None:
        self.model = ScriptedTestModel(list(script))
        self.tools = FakeToolset(*tools)
        self.policy = policy or FakePolicy()
        self.inbox = FakeInbox()
        self.controls = FakeControls()
        self.decisions: dict[str, Decision] = {}
        self.answer: Decision | None = None
        self.answers: dict[str, Answer] = {}
        self.batches: list[Batch] = []
        self.live: list[Live] = []
        self.slept: list[float] = []
        self._ids = 0
        self._clock = 0.0
        self.transcript = self.rebuilt()
        self.setup = Setup(
            model=self.model,
            tools=self.tools,
            policy=self.policy,
            inbox=self.inbox,
            controls=self.controls,
            system="Be helpful",
            limits=limits or Limits(),
            new_id=self._new_id,
            clock=self._now,
            sleep=self._sleep,
            sequential=sequential,
            jitter=lambda: 1.0,
            seams=Seams(seams),
            goals=goals,
        )

    def _new_id(self) -> str:
        self._ids += 1
        return f"n{self._ids}"

    def _now(self) -> float:
        self._clock += 1
        return self._clock

    def pass_time(self, seconds: float) -> None:
        self._clock += seconds

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    @property
    def events(self) -> list[Event]:
        return [event for batch in self.batches for event in batch]

    @property
    def kinds(self) -> list[str]:
        """The batches as one line each, so that a test reads as a list."""
        return [" ".join(type(event).__name__ for event in batch) for batch in self.batches]

    @property
    def usage(self) -> Usage:
        return sum((spent(event) for event in self.events), Usage())

    def record(self, batch: Batch) -> None:
        assert batch, "an empty batch"
        self.batches.append(batch)
        for event in batch:
            self.inbox.recorded(event)

    def rebuilt(self) -> Transcript:
        transcript = Transcript([QUESTION])
        for event in self.events:
            transcript.apply(event)
        return transcript

    def claim(self) -> None:
        """Start from the rows alone, as another worker would, with the decisions that came in."""
        transcript = self.rebuilt()
        if transcript.streaming:
            lost = ModelFault(ErrorKind.STREAM_INTERRUPTED, "The worker was lost.", True)
            self.record((MessageInterrupted(transcript.streaming, "", "", lost),))
            transcript = self.rebuilt()
        for id, decision in self.decisions.items():
            entry = transcript.calls[id]
            if entry.status is CallStatus.WAITING and decision.approval == entry.approval and not entry.taken:
                transcript.calls[id] = replace(entry, decision=decision)
        asked = transcript.question
        if asked and asked.waits and self.answer and self.answer.approval == asked.approval:
            transcript.question = replace(asked, decision=self.answer)
        taken = {event.answer for event in self.events if isinstance(event, OutcomeSettled | ResultReceived)}
        for id, answer in self.answers.items():
            if answer.id not in taken:
                transcript.calls[id] = replace(transcript.calls[id], answer=answer)
        self.transcript = transcript

    async def go(self, on_step: OnStep = lambda step: None) -> "Shell":
        """Let the run work until it pauses or ends; then what was recorded must tell all that the transcript holds."""
        async with aclosing(run(self.transcript, self.usage, self.setup)) as steps:
            async for step in steps:
                if isinstance(step, tuple):
                    self.record(step)
                else:
                    self.live.append(step)
                on_step(step)
        assert same(self.rebuilt(), self.transcript)
        return self

    async def resume(self, on_step: OnStep = lambda step: None) -> "Shell":
        self.claim()
        return await self.go(on_step)

    async def crash(self, after: Callable[[Step], bool]) -> None:
        """Work until ``after`` says so, and lose the worker there."""
        async with aclosing(run(self.transcript, self.usage, self.setup)) as steps:
            async for step in steps:
                if isinstance(step, tuple):
                    self.record(step)
                if after(step):
                    return
        raise AssertionError("the run ended before the crash")

    def approval(self, call: str) -> ApprovalRequested:
        """The latest ask about a call."""
        return [e for e in self.events if isinstance(e, ApprovalRequested) and e.call == call][-1]

    def decide(self, call: str, kind: DecisionKind, **fields: Any) -> None:
        """Ann decides what the card shows."""
        asked = self.approval(call)
        self.decisions[call] = Decision(asked.approval, kind, "Ann", asked.digest, **{"seen": asked.seen, **fields})

    def say(self, kind: DecisionKind, **fields: Any) -> None:
        """Ann answers what the run asks about itself."""
        asked = [e for e in self.events if isinstance(e, QuestionAsked)][-1]
        self.answer = Decision(asked.approval, kind, "Ann", asked.digest, **fields)

    def settle(self, call: str, outcome: Resolution, content: str = "", comment: str = "") -> None:
        """Ann says what became of a call whose outcome is unknown."""
        self.answers[call] = Answer(self._new_id(), "Ann", outcome, content, comment=comment)

    def supply(self, call: str, content: str, **fields: Any) -> None:
        """Ann gives the result of a suspended call."""
        self.answers[call] = Answer(self._new_id(), "Ann", None, content, **fields)

    def results(self) -> dict[str, str]:
        return {id: entry.result.content for id, entry in self.transcript.calls.items() if entry.result}

    def entry(self, call: str) -> CallEntry:
        return self.transcript.calls[call]


def same(told: Transcript, live: Transcript) -> bool:
    """Whether the record tells all that the live transcript holds, but for decisions that came from rows and that no
    event has taken up."""
    bare = {"decision": None, "taken": False, "expired": False, "answer": None}
    both = [
        {
            id: entry if live.calls[id].taken else replace(entry, **bare)  # type: ignore[arg-type]
            for id, entry in transcript.calls.items()
        }
        for transcript in (told, live)
    ]
    asked = live.question
    if asked and not asked.taken:
        asked = replace(asked, decision=None, expired=False)
    return both[0] == both[1] and replace(told, calls={}) == replace(live, calls={}, question=asked)


def has(kind: type[Event]) -> Callable[[Step], bool]:
    return lambda step: isinstance(step, tuple) and any(isinstance(event, kind) for event in step)
