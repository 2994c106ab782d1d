"""What a terminal shows of a run: everything once, in order, and nothing that steers the terminal."""

import json
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from agentweb.engine import events
from agentweb.engine.codec import encode, kind_of
from agentweb.engine.enums import ErrorKind, Outcome, Reason, ResultKind, Risk
from agentweb.engine.messages import AssistantMessage, ToolResult
from agentweb.engine.usage import Usage
from agentweb.runs.models import Event
from agentweb.worker.terminal.views import Lines, Story, totals

AT = datetime(2030, 1, 2, 3, 4, 5, 678, tzinfo=UTC)
SAID = AssistantMessage("m", "It is Monday.", "A clock knows.")


def row(event: events.Event, number: int = 1) -> Event:
    return Event(number=number, kind=kind_of(event), at=AT, payload=json.dumps(encode(event)))


class Paper:
    """A story and what it has written so far."""

    def __init__(self, colour: bool = False) -> None:
        self.text = ""
        self.story = Story(self._write, colour=colour)

    def _write(self, text: str) -> None:
        self.text += text

    def live(self, *deltas: tuple[str, int, str]) -> None:
        self.story.live({"run": "r", "c": "1-1", "message": "m", "deltas": [list(delta) for delta in deltas]})

    def event(self, *several: events.Event) -> str:
        for event in several:
            self.story.event(row(event))
        return self.text


def test_what_came_live_is_not_told_again():
    paper = Paper()
    paper.live(("thinking", 0, "A clock "), ("thinking", 8, "knows."))
    paper.live(("text", 0, "It is"), ("text", 5, " Monday."))
    assert paper.event(events.MessageFinished(SAID, Usage())) == "A clock knows.\nIt is Monday.\n"


def test_what_did_not_come_live_is_told_from_the_record():
    assert Paper().event(events.MessageFinished(SAID, Usage())) == "A clock knows.\nIt is Monday.\n"


@pytest.mark.parametrize(
    "deltas",
    [
        [("text", 0, "It is")],
        [("text", 0, "It is"), ("text", 0, "It is")],
        [("text", 0, "It is"), ("text", 3, "is Mon")],
        [("text", 0, "It"), ("text", 6, "Monday.")],
        [("text", 6, "Monday.")],
    ],
)
def test_pieces_that_are_missing_doubled_or_overlap_make_the_same_text(deltas):
    paper = Paper()
    paper.live(*deltas)
    said = AssistantMessage("m", "It is Monday.")
    assert paper.event(events.MessageFinished(said, Usage())) == "It is Monday.\n"


def test_a_snapshot_continues_what_was_told():
    paper = Paper()
    paper.live(("text", 0, "It is"))
    paper.story.live({"run": "r", "snapshot": {"message": "m", "text": "It is Monday.", "thinking": ""}})
    assert paper.text == "It is Monday."


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("red \x1b[31mtext", "red <U+001B>[31mtext"),
        ("title \x1b]0;x\x07", "title <U+001B>]0;x<U+0007>"),
        ("\x9b2J", "<U+009B>2J"),
        ("right \u202e to left", "right <U+202E> to left"),
        ("over\rwritten", "over<U+000D>written"),
        ("two\nlines\tand a tab, 中文 too", "two\nlines\tand a tab, 中文 too"),
    ],
)
def test_characters_that_steer_or_deceive_are_shown_as_what_they_are(text, shown):
    assert Paper().event(events.MessageFinished(AssistantMessage("m", text), Usage())) == f"{shown}\n"


def test_calls_results_and_decisions_stand_on_lines_of_their_own():
    paper = Paper()
    paper.live(("text", 0, "Let me look."))
    shown = paper.event(
        events.ToolStarted("c", "weather", {"city": "Beijing"}),
        events.ToolFinished("c", "weather", ToolResult("c", "clear\n26 °C")),
        events.ToolFinished("d", "weather", ToolResult("d", "no such city", ResultKind.ERROR)),
        events.ApprovalRequested("a", "c", "write_file", {"path": "a\x1b.txt"}, Risk.HIGH, "digest", "rule"),
    )
    assert shown.splitlines() == [
        "Let me look.",
        '→ weather city: "Beijing"',
        "← clear",
        "  26 °C",
        "✗ no such city",
        '? write_file must be approved (high risk) path: "a\\u001b.txt"',
    ]


def test_a_long_result_is_cut_and_says_so():
    text = "\n".join(str(n) for n in range(100))
    shown = Paper().event(events.ToolFinished("c", "read_file", ToolResult("c", text)))
    assert len(shown.splitlines()) == 13
    assert "… 88 more lines" in shown


def test_the_end_has_totals_and_an_outcome_that_is_no_answer_says_why():
    usage = Usage(turns=2, model_calls=3, tool_calls=1, input_tokens=500, output_tokens=20, cost=Decimal("0.001200"))
    answered = Paper().event(events.RunFinished(Outcome.ANSWERED, Reason.DONE, "Answered.", usage))
    assert answered.count("\n") == 1
    for part in ("turns: 2", "model calls: 3", "tool calls: 1", "500 in, 20 out", "cost: 0.0012"):
        assert part in answered
    fault = events.ModelFault(ErrorKind.CONNECTION, "Nothing answers at 127.0.0.1:9.")
    failed = events.RunFinished(Outcome.FAILED, Reason.MODEL_ERROR, fault.message, usage, fault)
    assert Paper().event(failed).startswith("failed: Nothing answers at 127.0.0.1:9.\n")


def test_colours_change_no_words():
    plain, bright = Paper(), Paper(colour=True)
    for paper in (plain, bright):
        paper.live(("thinking", 0, "A clock knows."))
        paper.event(events.MessageFinished(SAID, Usage()), events.ToolStarted("c", "weather", {}))
    assert "\x1b[" in bright.text
    for code in ("\x1b[0m", "\x1b[1m", "\x1b[2m"):
        bright.text = bright.text.replace(code, "")
    assert bright.text == plain.text


@pytest.mark.parametrize("text", ["plain", "中文", "two\nlines", "\u2028\x85\x1b", "emoji 🙂"])
def test_each_event_is_one_line_of_json_in_ascii(text):
    written: list[str] = []
    event = events.MessageFinished(AssistantMessage("m", text), Usage())
    Lines(written.append).event(row(event, 7))
    (line,) = written
    assert line.isascii()
    assert line.count("\n") == 1
    expected = {"number": 7, "kind": "MessageFinished", "at": "2030-01-02T03:04:05.000678Z", "data": encode(event)}
    assert json.loads(line) == expected


def test_nothing_live_is_among_the_lines():
    written: list[str] = []
    Lines(written.append).live({"run": "r", "message": "m", "deltas": [["text", 0, "It"]]})
    assert written == []


@pytest.mark.parametrize(
    ("estimated", "words"), [(0, "tokens: 12 in, 3 out · cost: 0.5"), (1, "tokens: ≈ 12 in, ≈ 3 out · cost: ≈ 0.5")]
)
def test_totals_are_marked_where_a_part_of_them_is_a_guess(estimated, words):
    assert words in totals(Usage(input_tokens=12, output_tokens=3, cost=Decimal("0.50"), estimated_calls=estimated))
