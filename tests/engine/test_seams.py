"""What extensions may do at each point of the loop, in what order, and what is done instead when they fail."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest

from agentweb.engine.enums import DecisionKind, ErrorKind, NoteKind, Outcome, Reason, ResultKind
from agentweb.engine.events import (
    ApprovalRequested,
    ArgumentsRewritten,
    MessageFinished,
    ModelFault,
    NoteAdded,
    RunFinished,
    SeamFailed,
    ToolStarted,
)
from agentweb.engine.messages import Json, Message, ToolCall, ToolResult, UserMessage
from agentweb.engine.ports import ModelError, ModelRequest, ToolSpec, ToolSuspension
from agentweb.engine.seams import About, Block, Note, Point, Rewrite, Seams
from agentweb.engine.usage import Limits
from tests.engine.fakes import ASK, FakePolicy, Shell, has, tool
from tests.engine.scripted_model import Says, call
from tests.engine.test_acting import raising

APPROVE = DecisionKind.APPROVE


class Seam:
    """Answers at one point, with a value or with what a function makes of the arguments; remembers what it got."""

    def __init__(self, point: Point, answer: Any = None, *, name: str = "seam", priority: int = 100) -> None:
        self.name, self.priority, self.answer = name, priority, answer
        self.got: list[tuple[Any, ...]] = []
        setattr(self, point, self._asked)

    async def _asked(self, *about: Any) -> Any:
        self.got.append(about)
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer(*about) if callable(self.answer) else self.answer


def failing(point: Point) -> Seam:
    return Seam(point, ValueError("no idea"), name="broken")


def failures(shell: Shell) -> list[tuple[str, str, str]]:
    return [(one.seam, one.point, one.effect) for one in shell.events if isinstance(one, SeamFailed)]


def end_of(shell: Shell) -> RunFinished:
    assert isinstance(shell.events[-1], RunFinished)
    return shell.events[-1]


def notes(shell: Shell) -> list[tuple[str, str]]:
    return [(one.by, one.text) for one in shell.events if isinstance(one, NoteAdded)]


def texts(request: ModelRequest) -> list[str]:
    return [one.content if isinstance(one, ToolResult) else one.text for one in request.messages]


# --- order ------------------------------------------------------------------------------------------------------------


def test_extensions_are_asked_by_priority_and_then_as_they_were_installed() -> None:
    made = [Seam(Point.STEERING, name=name, priority=priority) for name, priority in (("b", 100), ("c", 200), ("a", 1))]
    made.append(Seam(Point.STEERING, name="b2"))
    other = Seam(Point.ERROR)
    assert [seam.name for seam in Seams((*made, other)).at(Point.STEERING)] == ["a", "b", "b2", "c"]  # type: ignore[attr-defined]


async def test_a_plain_method_is_asked_in_a_thread_and_may_answer_later() -> None:
    class Plain:
        def before_run(self, about: About) -> str:
            with pytest.raises(RuntimeError):
                asyncio.get_running_loop()
            return f"plain {about.run}"

    class Later:
        def before_run(self, about: About) -> Any:
            async def late() -> str:
                return "later"

            return late()

    shell = Shell(Says("Done"), seams=(Plain(), Later()))
    shell.setup = replace(shell.setup, run="r1")
    await shell.go()
    assert notes(shell) == [("Plain", "plain r1"), ("Later", "later")]


# --- before and after a run -------------------------------------------------------------------------------------------


async def test_notes_before_a_run_stand_before_its_first_turn_and_only_there() -> None:
    seam = Seam(Point.BEFORE_RUN, ["Ann likes short answers.", Note("Be brief.")])
    shell = await Shell(Says("", (call("a"),)), Says("Done"), tools=(tool("write"),), seams=(seam,)).go()

    assert shell.kinds[0] == "NoteAdded NoteAdded TurnStarted ModelRequested"
    assert texts(shell.model.requests[0]) == ["Do it", "Ann likes short answers.", "Be brief."]
    assert len(seam.got) == 1
    told = shell.model.requests[0].messages[1]
    assert isinstance(told, UserMessage) and told.about is NoteKind.EXTENSION


async def test_after_a_run_its_outcome_is_told_also_when_it_was_cancelled() -> None:
    seam = Seam(Point.AFTER_RUN)
    await Shell(Says("Done"), seams=(seam,)).go()
    cancelled = Shell(seams=(seam,))
    cancelled.controls.cancel()
    await cancelled.go()
    assert [outcome for outcome, _about in seam.got] == [Outcome.ANSWERED, Outcome.CANCELLED]
    assert end_of(cancelled).outcome is Outcome.CANCELLED


async def test_a_pause_is_no_end() -> None:
    seam = Seam(Point.AFTER_RUN)
    await Shell(Says("", (call("a"),)), tools=(tool("write"),), policy=FakePolicy({"write": ASK}), seams=(seam,)).go()
    assert seam.got == []


# --- the model call ---------------------------------------------------------------------------------------------------


async def test_the_context_is_chosen_then_each_message_converted_then_the_request_looked_over() -> None:
    def without_first(messages: tuple[Message, ...], about: About) -> list[Message]:
        return list(messages[1:])

    def louder(message: Message, about: About) -> Message | None:
        return replace(message, text=message.text.upper()) if isinstance(message, UserMessage) else None

    def with_system(request: ModelRequest, about: About) -> ModelRequest:
        return replace(request, system=f"{request.system}; {len(request.messages)} messages")

    shell = await Shell(
        Says("", (call("a"),)),
        Says("Done"),
        tools=(tool("write"),),
        seams=(
            Seam(Point.BEFORE_MODEL, with_system),
            Seam(Point.CONVERT_MESSAGE, louder),
            Seam(Point.TRANSFORM_CONTEXT, without_first),
            Seam(Point.BEFORE_RUN, "be quick"),
        ),
    ).go()

    first, second = shell.model.requests
    assert (texts(first), first.system) == (["BE QUICK"], "Be helpful; 1 messages")
    assert texts(second) == ["BE QUICK", "", "did {}"]
    assert shell.transcript.messages[0].text == "Do it"


async def test_what_could_not_be_filtered_is_not_sent() -> None:
    shell = await Shell(seams=(failing(Point.CONVERT_MESSAGE),)).go()

    assert shell.model.requests == []
    assert failures(shell) == [("broken", "convert_message", "Nothing was sent to the model.")]
    assert (end_of(shell).outcome, end_of(shell).reason) == (Outcome.FAILED, Reason.MODEL_ERROR)
    assert "the extension broken failed" in end_of(shell).text


@pytest.mark.parametrize("point", [Point.TRANSFORM_CONTEXT, Point.BEFORE_MODEL])
async def test_a_request_that_could_not_be_changed_is_sent_as_it_was(point: Point) -> None:
    shell = await Shell(Says("Done"), seams=(failing(point),)).go()

    assert texts(shell.model.requests[0]) == ["Do it"]
    assert failures(shell) == [("broken", point.value, "The request was sent as it was before.")]
    assert end_of(shell).outcome is Outcome.ANSWERED


# --- before and after a tool ------------------------------------------------------------------------------------------


async def test_a_blocked_call_does_not_run_and_the_model_reads_why() -> None:
    used = tool("write")
    seam = Seam(Point.BEFORE_TOOL, Block("not on Sundays"), name="calendar")
    shell = await Shell(Says("", (call("a"),)), Says("Done"), tools=(used,), seams=(seam,)).go()

    result = shell.entry("a").result
    assert result is not None
    assert (result.kind, result.content) == (ResultKind.DENIED, "Not run: blocked by calendar: not on Sundays")
    assert used.runs == []


async def test_a_call_that_could_not_be_looked_at_does_not_run() -> None:
    used = tool("write")
    shell = await Shell(Says("", (call("a"),)), Says("Done"), tools=(used,), seams=(failing(Point.BEFORE_TOOL),)).go()

    assert shell.results() == {"a": "Not run: broken could not look at this call."}
    assert failures(shell) == [("broken", "before_tool", "The call did not run.")]
    assert used.runs == []


def to_b(call: ToolCall, spec: ToolSpec, arguments: Mapping[str, Json], about: About) -> Rewrite | None:
    return Rewrite({**arguments, "path": "b"}) if arguments.get("path") == "a" else None


async def test_rewritten_arguments_are_judged_recorded_and_told() -> None:
    used = tool("write")
    policy = FakePolicy()
    seam = Seam(Point.BEFORE_TOOL, to_b, name="scrub")
    shell = await Shell(
        Says("", (call("a", path="a"),)), Says("Done"), tools=(used,), policy=policy, seams=(seam,)
    ).go()

    assert used.runs == [{"path": "b"}]
    assert shell.kinds[2] == "ArgumentsRewritten ToolStarted"
    assert shell.results()["a"].startswith('(Run with arguments changed by scrub: {"path":"b"})')


async def test_people_are_asked_about_rewritten_arguments_and_their_consent_holds_for_those() -> None:
    used = tool("write")
    seam = Seam(Point.BEFORE_TOOL, to_b, name="scrub")
    shell = await Shell(
        Says("", (call("a", path="a"),)), Says("Done"), tools=(used,), policy=FakePolicy({"write": ASK}), seams=(seam,)
    ).go()
    assert shell.approval("a").arguments == {"path": "b"}

    shell.decide("a", APPROVE)
    await shell.resume()

    assert used.runs == [{"path": "b"}]
    assert len([one for one in shell.events if isinstance(one, ArgumentsRewritten)]) == 1


async def test_consent_is_void_when_an_extension_changes_what_was_consented_to() -> None:
    used = tool("write")
    shell = await Shell(Says("", (call("a", path="a"),)), tools=(used,), policy=FakePolicy({"write": ASK})).go()
    shell.decide("a", APPROVE)
    shell.setup = replace(shell.setup, seams=Seams((Seam(Point.BEFORE_TOOL, to_b),)))

    await shell.resume()

    asked = [one.arguments for one in shell.events if isinstance(one, ApprovalRequested)]
    assert asked == [{"path": "a"}, {"path": "b"}]
    assert used.runs == []


async def test_arguments_that_an_extension_made_wrong_do_not_run() -> None:
    used = tool("write")
    seam = Seam(Point.BEFORE_TOOL, Rewrite({"bad": 1}), name="scrub")
    shell = await Shell(Says("", (call("a"),)), Says("Done"), tools=(used,), seams=(seam,)).go()
    assert "as changed by scrub," in shell.results()["a"]
    assert used.runs == []


async def test_each_extension_sees_the_result_as_the_one_before_left_it() -> None:
    def add(letter: str) -> Any:
        return lambda call, result, about: replace(result, content=result.content + letter)

    seams = (Seam(Point.AFTER_TOOL, add("b"), priority=2), Seam(Point.AFTER_TOOL, add("a"), priority=1))
    shell = await Shell(Says("", (call("a"),)), Says("Done"), tools=(tool("write"),), seams=seams).go()
    assert shell.results() == {"a": "did {}ab"}


async def test_a_result_that_could_not_be_looked_at_is_withheld() -> None:
    shell = await Shell(
        Says("", (call("a"),)), Says("Done"), tools=(tool("write"),), seams=(failing(Point.AFTER_TOOL),)
    ).go()
    assert shell.results()["a"].startswith("The result is withheld, since broken could not look at it.")
    assert failures(shell) == [("broken", "after_tool", "The result was withheld from the model.")]


async def test_a_result_from_outside_is_looked_at_too() -> None:
    seam = Seam(Point.AFTER_TOOL, lambda call, result, about: replace(result, content="clean"))
    used = raising(ToolSuspension("Which city?"))
    shell = await Shell(Says("", (call("a"),)), Says("Done"), tools=(used,), seams=(seam,)).go()
    shell.supply("a", "dirty")
    await shell.resume()
    assert shell.results() == {"a": "clean"}


# --- messages from elsewhere ------------------------------------------------------------------------------------------


async def test_steering_is_delivered_before_the_next_model_call_and_makes_for_one() -> None:
    given = iter([[], ["look left"], []])
    seam = Seam(Point.STEERING, lambda about: next(given, []))
    shell = await Shell(
        Says("", (call("a"),)), Says("So so"), Says("Left, then"), tools=(tool("write"),), seams=(seam,)
    ).go()
    assert "NoteAdded" in shell.kinds[3]
    assert end_of(shell).outcome is Outcome.ANSWERED
    assert shell.usage.turns == 2


async def test_a_follow_up_starts_another_round_when_the_run_would_end() -> None:
    seam = Seam(Point.FOLLOW_UPS, Note("And now translate it.", key="translate"))
    shell = await Shell(Says("Hello"), Says("Bonjour"), seams=(seam,)).go()
    assert notes(shell) == [("seam", "And now translate it.")]
    assert shell.usage.turns == 2


async def test_a_note_with_a_key_is_added_once_also_over_a_lost_worker() -> None:
    seam = Seam(Point.STEERING, Note("look left", key="left"))
    shell = Shell(Says("", (call("a"),)), Says("Done"), tools=(tool("write"),), seams=(seam,))
    await shell.crash(has(MessageFinished))
    await shell.resume()
    assert notes(shell) == [("seam", "look left")]


# --- wrap-up, errors --------------------------------------------------------------------------------------------------


async def test_around_the_wrap_up() -> None:
    before, after = Seam(Point.BEFORE_WRAP_UP, "Name the ticket."), Seam(Point.AFTER_WRAP_UP)
    shell = await Shell(
        Says("", (call("a"),)),
        Says("Half done"),
        tools=(tool("write"),),
        limits=Limits(max_turns=1),
        seams=(before, after),
    ).go()
    assert texts(shell.model.requests[1])[-1] == "Name the ticket."
    assert [text for text, _about in after.got] == ["Half done"]
    assert end_of(shell).outcome is Outcome.LIMIT_REACHED


async def test_each_failed_model_call_is_told_and_so_is_an_error_in_the_system() -> None:
    seam = Seam(Point.ERROR)
    lost = ModelError(ErrorKind.CONNECTION, "lost", retryable=True)
    await Shell(Says(error=lost), Says("Done"), seams=(seam,)).go()
    broken = Shell(Says("", (call("a"),)), tools=(tool("write"),), seams=(seam,))
    broken.policy.error = OSError("disk")
    with pytest.raises(OSError):
        await broken.go()
    assert [fault.kind for fault, _about in seam.got] == [ErrorKind.CONNECTION, ErrorKind.INTERNAL]


@pytest.mark.parametrize(
    "point",
    [Point.BEFORE_RUN, Point.AFTER_RUN, Point.AFTER_MODEL, Point.AFTER_ACTING, Point.STEERING, Point.FOLLOW_UPS],
)
async def test_elsewhere_the_run_goes_on_without_what_failed(point: Point) -> None:
    shell = await Shell(Says("", (call("a"),)), Says("Done"), tools=(tool("write"),), seams=(failing(point),)).go()
    assert set(failures(shell)) == {("broken", point.value, "The run went on without it.")}
    assert end_of(shell).outcome is Outcome.ANSWERED


@pytest.mark.parametrize(
    ("point", "answer"),
    [
        (Point.BEFORE_RUN, 5),
        (Point.TRANSFORM_CONTEXT, ["text"]),
        (Point.CONVERT_MESSAGE, "text"),
        (Point.BEFORE_MODEL, {}),
        (Point.AFTER_MODEL, True),
        (Point.BEFORE_TOOL, False),
        (Point.AFTER_TOOL, "text"),
        (Point.AFTER_ACTING, "stop"),
    ],
)
async def test_an_answer_that_means_nothing_is_a_failure(point: Point, answer: object) -> None:
    shell = Shell(Says("", (call("a"),)), Says("Done"), tools=(tool("write"),), seams=(Seam(point, answer),))
    await shell.go()
    failure = next(one for one in shell.events if isinstance(one, SeamFailed))
    assert (failure.point, "means nothing here" in failure.error) == (point.value, True)


async def test_a_cancel_does_not_wait_for_an_extension() -> None:
    @dataclass
    class Slow:
        asked: list[str] = field(default_factory=list)

        async def before_run(self, about: About) -> None:
            self.asked.append(about.run)
            shell.controls.cancel()
            await asyncio.Event().wait()

    shell = Shell(seams=(Slow(),))
    await asyncio.wait_for(shell.go(), 20)
    assert end_of(shell).outcome is Outcome.CANCELLED
    assert not any(isinstance(one, ToolStarted | ModelFault) for one in shell.events)
