"""Twice as much of anything takes twice the work, however it is cut: no server can hold a worker up by that."""

import sys
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from agentweb.llm.assembler import Assembler
from agentweb.llm.calls import MAX_EXTRA
from agentweb.llm.config import ToolProtocol
from tests.llm.spoken import asked

NATIVE, TEXT, JSON = ToolProtocol
SIZE = 800  # characters, or fragments
AT_ONCE = 10**9
SEEKS = {"find", "startswith"}  # within one text these begin where they are told to
BOUND = 8 * 1_024  # of what is looked at together at most


def work_of(act: Callable[[], object], *, but: frozenset[str] | set[str] = frozenset()) -> int:
    """Characters of all texts whose methods are called meanwhile: what is looked at again counts again."""
    total = 0

    def called(frame: Any, kind: str, what: Any) -> None:
        nonlocal total
        if kind == "c_call" and isinstance(text := getattr(what, "__self__", None), str):
            total += len(text) if what.__name__ not in but else 1

    sys.setprofile(called)
    try:
        act()
    finally:
        sys.setprofile(None)
    return total


def reading(protocol: ToolProtocol, deltas: list[dict[str, Any]]) -> Callable[[], object]:
    wire, ids = asked(protocol), count(1)
    new_id = lambda: f"own{next(ids)}"  # noqa: E731
    assembler = Assembler(wire.names, new_id, wire.reader(new_id))

    def read() -> None:
        for delta in deltas:
            assembler.feed([{"choices": [{"index": 0, "delta": delta}]}])
        assembler.drain()

    return read


@pytest.mark.parametrize("cut", [2, AT_ONCE], ids=["in small pieces", "at once"])
@pytest.mark.parametrize(
    ("protocol", "begin", "repeated"),
    [
        pytest.param(NATIVE, "<think>", " ", id="blanks in a thought"),
        pytest.param(NATIVE, "<think>so", " \n", id="blanks behind a thought"),
        pytest.param(NATIVE, "<think>so</think>", "\n", id="blanks behind thinking"),
        pytest.param(NATIVE, "", " ", id="nothing but blanks"),
        pytest.param(NATIVE, "<tool_call>", " ", id="blanks in a call that leaked"),
        pytest.param(NATIVE, "<tool_call>{}</tool_call>", "\n", id="blanks behind a call that leaked"),
        pytest.param(NATIVE, "", "<tool_call>{}</tool_call>", id="calls that leaked"),
        pytest.param(NATIVE, "", "<tool_call>{}</tool_call> or ", id="calls that did not"),
        pytest.param(NATIVE, "", "<tool_call>{", id="calls within calls"),
        pytest.param(NATIVE, "", "[<", id="beginnings of marks"),
        pytest.param(TEXT, "", "<thought>a</thought>", id="thoughts on one line"),
        pytest.param(TEXT, "Thought: a", " ", id="blanks on a line"),
        pytest.param(TEXT, "Thought: a\n", "\n", id="empty lines"),
        pytest.param(TEXT, "", "```\n", id="fences"),
        pytest.param(TEXT, "Action: get_time\nAction Input: ", " ", id="blanks before an input"),
        pytest.param(TEXT, "Action: get_time\nAction Input: ", "{", id="a deep input"),
        pytest.param(TEXT, "", '{"action": 1} ', id="objects that are no calls"),
        pytest.param(JSON, '{"step": "', "x", id="a step without an end"),
        pytest.param(JSON, '{"tool_name": "', "x", id="a name without an end"),
        pytest.param(JSON, '{"step": "FINISH", "final_answer": "', "x", id="a long answer"),
        pytest.param(JSON, '{"arguments": ', "[", id="deep arguments"),
        pytest.param(JSON, '{"thought": "a"}', "b", id="words behind the object"),
    ],
)
def test_twice_the_text_is_twice_the_work(protocol, begin, repeated, cut):
    def work(size: int) -> int:
        text = begin + repeated * (size // len(repeated))
        pieces = [text[at : at + cut] for at in range(0, len(text), cut)]
        return work_of(reading(protocol, [{"content": piece} for piece in pieces]), but=SEEKS if cut > size else set())

    assert work(2 * SIZE) < 2.5 * work(SIZE) + BOUND


def call(function: dict[str, Any], **beside: Any) -> dict[str, Any]:
    return {"tool_calls": [{"index": 0, "function": function, **beside}]}


@pytest.mark.parametrize(
    "fragment",
    [
        pytest.param(lambda n: call({"name": "xy"[n % 2]}), id="a name without an end"),
        pytest.param(lambda n: call({"arguments": "["}), id="deep arguments"),
        pytest.param(lambda n: call({"arguments": '{"a": 1'}), id="arguments without an end"),
        pytest.param(lambda n: call({"name": "x", "arguments": "{}"}), id="whole arguments again and again"),
        pytest.param(lambda n: call({"arguments": {"n": n % 2}}), id="objects by turns"),
    ],
)
def test_twice_the_fragments_of_a_call_are_twice_the_work(fragment):
    def work(times: int) -> int:
        return work_of(reading(NATIVE, [fragment(n) for n in range(times)]))

    assert work(SIZE) < 2.5 * work(SIZE // 2) + BOUND


def test_only_some_fields_beside_a_call_are_kept():
    wire = asked(NATIVE)
    assembler = Assembler(wire.names, lambda: "own", wire.reader(lambda: "own"))
    assembler.feed([{"choices": [{"index": 0, "delta": call({"name": "get_time", "arguments": "{}"}, id="c")}]}])
    for n in range(3 * MAX_EXTRA):
        delta = call({f"inner{n}": 1}, **{f"outer{n}": 1})
        assembler.feed([{"choices": [{"index": 0, "delta": delta}]}])
    assembler.end_mark()
    assembler.close()
    (made,) = assembler.reply().calls
    assert made.extra["outer0"] == made.extra["function"]["inner0"] == 1
    assert len(made.extra) <= MAX_EXTRA and len(made.extra["function"]) <= MAX_EXTRA
