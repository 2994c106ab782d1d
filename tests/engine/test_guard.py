"""Going in circles: what counts as that, and where the ladder stands."""

import pytest

from agentweb.engine.entry import CallEntry
from agentweb.engine.enums import Circling, NoteKind, ResultKind
from agentweb.engine.guard import circle
from agentweb.engine.messages import AssistantMessage, ToolCall, ToolResult, UserMessage
from agentweb.engine.transcript import Transcript

QUESTION = UserMessage("u", "Do it", "Ann")
CORRECTED = UserMessage("n", "Do something else", about=NoteKind.CIRCLES)
LET_GO_ON = UserMessage("p", "Go on", about=NoteKind.ALLOWED)
SAME, PING_PONG, NOTHING_NEW = Circling.SAME_CALL, Circling.PING_PONG, Circling.NOTHING_NEW


def transcript(*said: UserMessage | str) -> Transcript:
    """Messages, and turns as text: calls parted by commas, each a name and its result behind "=" (without: its own),
    "!" in front of the result of a call that failed. ``look`` only reads."""
    messages: list[UserMessage | AssistantMessage] = []
    calls: dict[str, CallEntry] = {}
    for place, one in enumerate(said):
        if isinstance(one, UserMessage):
            messages.append(one)
            continue
        asked = []
        for at, text in enumerate(filter(None, one.split(","))):
            name, _, gives = text.partition("=")
            tool, _, argument = name.partition(" ")
            call = ToolCall(f"{place}.{at}", tool, {"of": argument})
            failed = gives.startswith("!")
            result = ToolResult(call.id, gives or f"{place}.{at}", ResultKind.ERROR if failed else ResultKind.OK)
            calls[call.id] = CallEntry(call, result=result)
            asked.append(call)
        messages.append(AssistantMessage(str(place), "", calls=tuple(asked)))
    return Transcript(messages, calls)


CASES = [
    ("nothing was called", [], None),
    ("one call", ["look a"], None),
    ("twice the same", ["look a", "look a"], None),
    ("the same three times, whatever it gives", ["look a=1", "look a=2", "look a=3"], SAME),
    ("the same three times in one message", ["look a,look a,look a"], SAME),
    ("the same three times, but not in a row", ["look a", "look b", "look a", "look c", "look a"], None),
    ("the same tool with other arguments", ["look a", "look b", "look c", "look d"], None),
    ("the same arguments to other tools", ["look a", "find a", "seek a", "read a"], None),
    ("two in turn, both the same each time", ["look a=1", "look b=2", "look a=1", "look b=2"], PING_PONG),
    ("two in turn, something new each time", ["look a=1", "look b=2", "look a=3", "look b=4"], None),
    ("two in turn for three rounds", [f"look {name}={n}" for n in range(3) for name in "ab"], PING_PONG),
    ("two in turn within one message", ["look a=1,look b=2,look a=1,look b=2"], PING_PONG),
    ("three in turn", ["look a=1", "look b=2", "look c=3", "look a=4", "look b=5", "look c=6"], None),
    ("another call each time, told the same", [f"look {n}=none" for n in range(4)], NOTHING_NEW),
    ("another call each time, the same error", [f"write {n}=!no" for n in range(4)], NOTHING_NEW),
    ("a tool that does something says the same each time", [f"write {n}=ok" for n in range(9)], None),
    (
        "one of the calls tells something",
        ["look 0=a,look 1=b", *[f"look {n}=a,look x{n}={n}" for n in (2, 3, 4)]],
        None,
    ),
    ("something new in between", ["look 0=a", "look 1=a", "look 2=b", "look 3=a", "look 4=b"], None),
    ("nothing new after something new", ["look 0=a", "look 1=b", "look 2=a", "look 3=b", "look 4=a"], NOTHING_NEW),
    ("an answer in between does not hide it", ["look a=1", "", "look a=1", "", "look a=1"], SAME),
]


@pytest.mark.parametrize(("turns", "sign"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_circles_are_told_from_progress(turns: list[str], sign: Circling | None) -> None:
    found = circle(transcript(QUESTION, *turns), {"look"})
    assert (found.sign if found else None) == sign


def test_a_call_that_nobody_could_read_repeats_by_its_text() -> None:
    broken = [ToolCall(str(n), "write", None, '{"of": ') for n in range(3)]
    calls = {one.id: CallEntry(one, result=ToolResult(one.id, "cannot be read", ResultKind.ERROR)) for one in broken}
    found = circle(Transcript([QUESTION, AssistantMessage("m", "", calls=tuple(broken))], calls), ())
    assert found is not None
    assert found.sign is SAME


@pytest.mark.parametrize(
    ("said", "rung"),
    [
        ((QUESTION,), 0),
        ((QUESTION, "look a", CORRECTED), 1),
        ((QUESTION, "look a", CORRECTED, "look a", LET_GO_ON), 2),
        ((QUESTION, "look a", CORRECTED, "look a", LET_GO_ON, UserMessage("v", "And this", "Ann")), 0),
        ((QUESTION, "look a", CORRECTED, UserMessage("v", "And this", "Ann"), "look a", CORRECTED), 1),
    ],
)
def test_the_ladder_is_climbed_step_by_step_and_begins_anew_with_a_message(said, rung) -> None:
    repeated = ("look b", "look b", "look b")
    found = circle(transcript(*said, *repeated), {"look"})
    assert found is not None
    assert found.rung == rung
    assert found.last.arguments == {"of": "b"}
    assert circle(transcript(*said, *repeated[:2]), {"look"}) is None


def test_what_was_called_before_this_run_does_not_count() -> None:
    earlier = transcript(QUESTION, "look a", "look a", CORRECTED, "look a", "look a")
    earlier.began = len(earlier.messages)
    assert circle(earlier, {"look"}) is None
