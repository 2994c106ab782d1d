"""The recorded streams and their like in other shapes: byte by byte, with other line ends, with calls interleaved."""

import itertools
import json
import random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentweb.llm.config import ToolProtocol
from tests.llm.asking import Outcome
from tests.llm.fake_provider import DONE, event
from tests.llm.in_memory import hear_bytes, wire_for
from tests.llm.recorded_cases import CASES, PLAIN, body_of, check

LINE_ENDS = ("\n", "\r\n", "\r")


@pytest.mark.parametrize(("name", "line_end"), [*zip(PLAIN, itertools.cycle(LINE_ENDS), strict=False)])
async def test_every_byte_may_come_by_itself(name, line_end):
    case = CASES[name]
    body = body_of(case, line_end)
    check(case, await hear_bytes(wire_for(case["tools"]), [body[at : at + 1] for at in range(len(body))]))


@pytest.mark.parametrize("line_end", LINE_ENDS)
@pytest.mark.parametrize("name", PLAIN)
async def test_everything_may_come_at_once(name, line_end):
    check(CASES[name], await hear_bytes(wire_for(CASES[name]["tools"]), [body_of(CASES[name], line_end)]))


TOOLS = [{"name": f"tool_{n}", "parameters": {"type": "object", "properties": {}}} for n in range(3)]
_values = st.dictionaries(st.text("abc", min_size=1, max_size=3), st.integers() | st.text(max_size=6), max_size=3)


@settings(max_examples=40)
@given(arguments=st.lists(_values, min_size=1, max_size=5), seed=st.integers(0, 10_000), named_again=st.booleans())
async def test_calls_with_numbers_of_their_own_may_overtake_each_other(arguments, seed, named_again):
    """Fragments of several calls in any order that keeps each call's own."""
    order = random.Random(seed)
    waiting = [_fragments(n, given, order, named_again) for n, given in enumerate(arguments)]
    frames: list[str] = []
    begun: list[int] = []
    while any(waiting):
        n = order.choice([n for n, left in enumerate(waiting) if left])
        begun += [] if n in begun else [n]
        frames.append(event({"tool_calls": [waiting[n].pop(0)]}))
    outcome = await hear_bytes(wire_for(TOOLS), _cut("".join([*frames, event({}, "tool_calls"), DONE]).encode(), order))
    assert _calls(outcome) == [(f"tool_{n % 3}", arguments[n], f"id{n}") for n in begun]


def _fragments(n: int, arguments: dict[str, Any], order: random.Random, named_again: bool) -> list[dict[str, Any]]:
    text, name = json.dumps(arguments), f"tool_{n % 3}"
    first = {"index": n, "id": f"id{n}", "type": "function", "function": {"name": name, "arguments": ""}}
    edges = sorted({0, len(text), *(order.randrange(len(text) + 1) for _ in range(3))})
    again = {"name": name} if named_again else {}
    return [first, *({"index": n, "function": {**again, "arguments": text[a:b]}} for a, b in itertools.pairwise(edges))]


def _cut(body: bytes, order: random.Random) -> list[bytes]:
    edges = sorted({0, len(body), *(order.randrange(len(body)) for _ in range(8))})
    return [body[a:b] for a, b in itertools.pairwise(edges)]


def _calls(outcome: Outcome) -> list[tuple[str, Any, str]]:
    assert outcome.reply
    return [(call.name, call.arguments, call.provider_id) for call in outcome.reply.calls]


@pytest.mark.parametrize(
    ("protocol", "text"),
    [
        (ToolProtocol.TEXT, 'Thought: I look.\nAction: tool_1\nAction Input: {"a": "ä\\n"}'),
        (
            ToolProtocol.JSON_ACTION,
            '{"thought": "I look.", "step": "CALL_TOOL", "tool_name": "tool_1", "arguments": {"a": "ä\\n"}}',
        ),
    ],
)
@pytest.mark.parametrize("line_end", LINE_ENDS)
async def test_calls_in_text_do_not_depend_on_how_they_arrive(protocol, text, line_end):
    pieces = [event({"content": text[at : at + 2]}) for at in range(0, len(text), 2)]
    body = "".join([*pieces, event({}, "stop"), DONE]).replace("\n", line_end).encode()
    outcome = await hear_bytes(wire_for(TOOLS, protocol), [body[at : at + 1] for at in range(len(body))])
    assert (outcome.thinking, _calls(outcome)) == ("I look.", [("tool_1", {"a": "ä\n"}, "")])


@pytest.mark.parametrize("protocol", ToolProtocol)
async def test_no_call_of_an_answer_that_breaks_off_runs(protocol):
    """Cut anywhere before its end, an answer is interrupted, in whatever form its call was written."""
    text = {
        ToolProtocol.TEXT: 'Action: tool_1\nAction Input: {"a": 1}',
        ToolProtocol.JSON_ACTION: '{"thought": "", "step": "CALL_TOOL", "tool_name": "tool_1", "arguments": {"a": 1}}',
    }
    fragment = {"index": 0, "id": "a", "function": {"name": "tool_1", "arguments": '{"a": 1}'}}
    said = {"tool_calls": [fragment]} if protocol is ToolProtocol.NATIVE else {"content": text[protocol]}
    body = event(said).encode()
    for cut in (*range(0, len(body), 7), len(body)):
        outcome = await hear_bytes(wire_for(TOOLS, protocol), [body[:cut]])
        assert outcome.reply is None and outcome.error and outcome.error.retryable
