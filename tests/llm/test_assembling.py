"""How one message is put together from chunks: the rules, with a case for each kind of trouble."""

import json
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentweb.engine.enums import DeltaKind, ErrorKind, Finish, Invalid
from agentweb.engine.ports import ModelDelta, ModelError, ModelReply
from agentweb.llm.assembler import Assembler
from agentweb.llm.calls import MAX_CALLS
from agentweb.llm.names import WireNames
from agentweb.llm.protocols.answers import PlainAnswer
from agentweb.llm.protocols.leaked import LeakedCalls

TOOLS = ("get_weather", "get_time", "list_dir", "get", "calendar.create")


def assemble(*deltas: Any, finish: str = "stop", tools: tuple[str, ...] = TOOLS) -> tuple[list[ModelDelta], ModelReply]:
    """Deltas are chunk deltas; the finish reason follows them."""
    ids = count(1)
    names, new_id = WireNames(tools), lambda: f"own{next(ids)}"
    assembler = Assembler(names, new_id, LeakedCalls(names, new_id) if tools else PlainAnswer())
    shown = []
    for delta in deltas:
        shown += assembler.feed([{"choices": [{"index": 0, "delta": delta}]}])
    shown += assembler.feed([{"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]}])
    if assembler.fault:
        raise assembler.fault
    shown += assembler.close()
    reply = assembler.reply()
    for kind, whole in ((DeltaKind.TEXT, reply.text), (DeltaKind.THINKING, reply.thinking)):
        assert "".join(delta.text for delta in shown if delta.kind is kind) == whole
    return shown, reply


def calls_of(*fragments: dict[str, Any] | list[dict[str, Any]], finish: str = "tool_calls") -> list[tuple[str, Any]]:
    deltas = [{"tool_calls": one if isinstance(one, list) else [one]} for one in fragments]
    return [(call.name, call.arguments or call.invalid or {}) for call in assemble(*deltas, finish=finish)[1].calls]


def part(
    name: str | None = None, arguments: Any = None, index: int | None = None, id: str | None = None
) -> dict[str, Any]:
    fragment: dict[str, Any] = {"function": {"name": name, "arguments": arguments}, "id": id}
    return fragment if index is None else {**fragment, "index": index}


OSLO, ROME = {"city": "Oslo"}, {"city": "Rome"}
OSLO_TEXT, ROME_TEXT = '{"city": "Oslo"}', '{"city": "Rome"}'


@pytest.mark.parametrize(
    ("fragments", "calls"),
    [
        pytest.param(
            [
                part("get_weather", "", 0, "a"),
                part("get_weather", "", 1, "b"),
                part(None, OSLO_TEXT, 0),
                part(None, ROME_TEXT, 1),
            ],
            [("get_weather", OSLO), ("get_weather", ROME)],
            id="fragments of two calls by turns",
        ),
        pytest.param(
            [part("get_weather", OSLO_TEXT), part("get_weather", ROME_TEXT)],
            [("get_weather", OSLO), ("get_weather", ROME)],
            id="neither index nor id",
        ),
        pytest.param(
            [part("list_dir", "{}", 0), part("get_time", "{}", 0)],
            [("list_dir", {}), ("get_time", {})],
            id="another name behind complete arguments",
        ),
        pytest.param(
            [part("get_weather", OSLO_TEXT + ROME_TEXT, 0, "a")],
            [("get_weather", OSLO), ("get_weather", ROME)],
            id="two objects run together",
        ),
        pytest.param(
            [part("get_weather", OSLO_TEXT, 0, "a"), part("get_weather", ROME_TEXT, 1, "a")],
            [("get_weather", OSLO), ("get_weather", ROME)],
            id="one id for two calls",
        ),
        pytest.param(
            [part("get_weather", "{}", 0, "a"), part(None, '{"city": ', 0), part(None, '"Oslo"}', 0)],
            [("get_weather", OSLO)],
            id="an empty object as placeholder",
        ),
        pytest.param(
            [part("get_weather", "", None, "a"), part(None, OSLO_TEXT, 0)],
            [("get_weather", OSLO)],
            id="the index comes late",
        ),
        pytest.param(
            [part("get_weather", '{"ci', 0, "a"), part(None, '{"city": ', 0), part(None, OSLO_TEXT, 0)],
            [("get_weather", OSLO)],
            id="each fragment holds all before it",
        ),
        pytest.param(
            [part("get_weather", OSLO_TEXT, 0, "a"), part(None, '{"city":', 0), part(None, ' "Oslo"}', 0)],
            [("get_weather", OSLO)],
            id="the whole again in pieces",
        ),
        pytest.param(
            [part("get_weather", OSLO_TEXT, 0, "a"), part("get_weather", OSLO_TEXT, 0, "a")],
            [("get_weather", OSLO)],
            id="the whole call sent twice",
        ),
        pytest.param(
            [part("get_weather", OSLO, 0, "a"), part("get_weather", OSLO, 0, "a")],
            [("get_weather", OSLO)],
            id="objects sent twice",
        ),
        pytest.param(
            [part("get_weather", OSLO_TEXT, 0, "a"), part(None, "\n```\n", 0), part(None, "}}", 0)],
            [("get_weather", OSLO)],
            id="junk behind complete arguments",
        ),
        pytest.param(
            [part("get_", "", 0, "a"), part("weather", OSLO_TEXT, 0)], [("get_weather", OSLO)], id="a name in pieces"
        ),
        pytest.param(
            [part("get", "", 0, "a"), part("get_weather", "", 0), part(None, OSLO_TEXT, 0)],
            [("get_weather", OSLO)],
            id="a name that grows",
        ),
        pytest.param([part("create", "{}", 0, "a")], [("calendar.create", {})], id="a namespace left out"),
        pytest.param([part("no_such", "{}", 0, "a")], [("no_such", {})], id="an unknown name is left to the loop"),
        pytest.param(
            [part("list_dir", None, 0, "a"), part("list_dir", "", 1, "b")], [("list_dir", {})] * 2, id="no arguments"
        ),
        pytest.param(
            [[part("get_weather", OSLO_TEXT, 0, "a"), part("get_time", "{}", 0, "b")]],
            [("get_weather", OSLO), ("get_time", {})],
            id="several in one chunk, all index 0",
        ),
    ],
)
def test_calls_are_put_together(fragments, calls):
    assert calls_of(*fragments) == calls


@pytest.mark.parametrize(
    ("raw", "finish", "why"),
    [
        ('{"a": "unfin', "length", Invalid.TRUNCATED),
        ('{"a": "unfin', "tool_calls", Invalid.TRUNCATED),
        ("", "length", Invalid.TRUNCATED),
        ('{"a": }', "tool_calls", Invalid.MALFORMED),
        ("nonsense", "tool_calls", Invalid.MALFORMED),
        ('{"a": NaN}', "tool_calls", Invalid.MALFORMED),
        ('{"a": 1e999}', "tool_calls", Invalid.MALFORMED),
        ('{"a":' * 5000 + "1" + "}" * 5000, "tool_calls", Invalid.MALFORMED),
        ("[1, 2]", "tool_calls", Invalid.NOT_OBJECT),
        ("null", "tool_calls", Invalid.NOT_OBJECT),
        ('"just text"', "tool_calls", Invalid.NOT_OBJECT),
        ("3", "tool_calls", Invalid.NOT_OBJECT),
    ],
)
def test_broken_arguments_are_never_mended(raw, finish, why):
    _, reply = assemble({"tool_calls": [part("get_weather", raw, 0, "a")]}, finish=finish)
    (call,) = reply.calls
    assert (call.arguments, call.invalid, call.raw) == (None, why, raw)
    assert call.detail
    assert reply.finish is (Finish.LENGTH if finish == "length" else Finish.TOOL_CALLS)


def test_a_complete_call_before_a_cut_off_one_is_kept_whole():
    _, reply = assemble(
        {"tool_calls": [part("get_weather", OSLO_TEXT, 0, "a"), part("get_weather", '{"ci', 1, "b")]}, finish="length"
    )
    assert [call.invalid for call in reply.calls] == [None, Invalid.TRUNCATED]


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
@pytest.mark.parametrize("raw", [OSLO_TEXT, json.dumps(OSLO_TEXT), OSLO_TEXT + OSLO_TEXT, OSLO_TEXT + "}<|im_end|>"])
def test_arguments_come_out_alike_in_pieces_of_any_size(raw, size):
    pieces = [raw[at : at + size] for at in range(0, len(raw), size)]
    assert calls_of(part("get_weather", "", 0, "a"), *(part(None, piece, 0) for piece in pieces)) == [
        ("get_weather", OSLO)
    ]


@given(
    wanted=st.lists(
        st.tuples(
            st.sampled_from(TOOLS),
            st.dictionaries(st.text(max_size=4), st.text() | st.integers() | st.lists(st.booleans()), max_size=3),
        ),
        min_size=1,
        max_size=4,
    ),
    size=st.integers(1, 9),
    style=st.sampled_from(["index", "id only", "all index 0", "name repeated"]),
)
def test_any_calls_survive_any_habit_of_the_provider(wanted, size, style):
    names = WireNames(TOOLS)
    fragments = []
    for at, (name, arguments) in enumerate(wanted):
        index = {"id only": None, "all index 0": 0}.get(style, at)
        fragments.append(part(names.wire(name), "", index, f"id{at}"))
        text = json.dumps(arguments)
        for start in range(0, len(text), size):
            again = names.wire(name) if style == "name repeated" else None
            fragments.append(part(again, text[start : start + size], index))
    shown = assemble(*({"tool_calls": [one]} for one in fragments))[1].calls
    cleaned = json.loads(json.dumps([list(one) for one in wanted]).replace("\\u0000", ""))
    assert [[call.name, dict(call.arguments)] for call in shown if call.arguments is not None] == cleaned


@pytest.mark.parametrize(
    ("pieces", "thinking", "text"),
    [
        (["<think>a</think>b"], "a", "b"),
        (["\n<thi", "nk>\n a", " b \n</th", "ink> \n", " c"], "a b", "c"),
        (["<think>", "</think>", "c"], "", "c"),
        (["<thinking>a</thinking>c"], "a", "c"),
        (["<think>a < b </thin", "g</think>c"], "a < b </thing", "c"),
        (["  ", "plain"], "", "  plain"),
        (["<thi", "s is text"], "", "<this is text"),
        (["a <think>b</think>"], "", "a <think>b</think>"),
        (["<think>a</think>b<think>c</think>"], "a", "b<think>c</think>"),
    ],
)
def test_thinking_tags_count_only_at_the_start(pieces, thinking, text):
    _, reply = assemble(*({"content": piece} for piece in pieces))
    assert (reply.thinking, reply.text) == (thinking, text)


BLOCK = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'


@pytest.mark.parametrize("size", [1, 3, 1000])
@pytest.mark.parametrize(
    ("text", "shown", "calls"),
    [
        (BLOCK, "", [OSLO]),
        (f"Let me see. {BLOCK}\n", "Let me see. ", [OSLO]),
        (BLOCK + "\n" + BLOCK.replace("Oslo", "Rome"), "", [OSLO, ROME]),
        (BLOCK + " and more", BLOCK + " and more", []),
        (f"`{BLOCK}`", f"`{BLOCK}`", []),
        (BLOCK.replace("get_weather", "no_such"), BLOCK.replace("get_weather", "no_such"), []),
        (BLOCK.replace("}}", "}"), BLOCK.replace("}}", "}"), []),
        ("<tool_call> is a tag", "<tool_call> is a tag", []),
        ('<tool_call>{"name": "get', '<tool_call>{"name": "get', []),
        ("a <tool", "a <tool", []),
        ("x < y and [TOOL", "x < y and [TOOL", []),
    ],
)
def test_text_becomes_a_call_only_as_whole_blocks_at_the_end(text, shown, calls, size):
    pieces = [text[at : at + size] for at in range(0, len(text), size)]
    _, reply = assemble(*({"content": piece} for piece in pieces))
    assert reply.text == shown
    assert [call.arguments for call in reply.calls] == calls and all(call.recovered for call in reply.calls)
    assert reply.finish is (Finish.TOOL_CALLS if calls else Finish.STOP)


def test_without_tools_a_block_stays_text():
    assert assemble({"content": BLOCK}, tools=())[1].text == BLOCK


@pytest.mark.parametrize(
    "marker", ["<tool_call>", "<function", "<tool_", "[TOOL_CALLS]", "<tool_call>\n", "<|tool_call|>"]
)
def test_a_marker_left_over_beside_a_proper_call_is_dropped(marker):
    _, reply = assemble({"content": "Now. "}, {"content": marker}, {"tool_calls": [part("list_dir", "{}", 0, "a")]})
    assert reply.text == "Now. " and len(reply.calls) == 1


def test_a_call_that_is_also_written_as_text_counts_once():
    _, reply = assemble({"content": BLOCK}, {"tool_calls": [part("get_weather", OSLO_TEXT, 0, "a")]})
    assert [(call.arguments, call.recovered) for call in reply.calls] == [(OSLO, False)]


@pytest.mark.parametrize(
    "pieces", [["\ud83d", "\ude42"], ["a\ud83d", "\ude42b"], ["\ud83d"], ["x\x00y"], ["\ude42"], ["\ud83d", "z"]]
)
def test_no_harmful_character_comes_through(pieces):
    for field in ("content", "reasoning_content"):
        shown, reply = assemble({"content": "."}, *({field: piece} for piece in pieces))
        whole = reply.text + reply.thinking
        assert whole.encode() and "\x00" not in whole
        assert all(delta.text.encode() for delta in shown)
    assert "🙂" in whole or pieces not in (["\ud83d", "\ude42"],)


def test_harmful_characters_in_arguments_and_names_are_mended():
    _, reply = assemble(
        {"tool_calls": [part("no\x00name", '{"a": "x\\u0000y", "b": "\\ud83d\\ude42", "c": "\\ud83d"}', 0, "i\x00d")]}
    )
    (call,) = reply.calls
    assert call.arguments == {"a": "xy", "b": "🙂", "c": "\ufffd"}
    assert (call.name, call.provider_id) == ("noname", "id")


@pytest.mark.parametrize(
    ("error", "kind", "retryable"),
    [
        ({"error": {"message": "Overloaded", "type": "overloaded_error"}}, ErrorKind.PROVIDER_ERROR, True),
        ({"error": "something broke"}, ErrorKind.PROVIDER_ERROR, False),
        ({"error": {"message": "slow", "code": 429}}, ErrorKind.RATE_LIMIT, True),
        (
            {"object": "error", "message": "maximum context length is 10 tokens", "code": 400},
            ErrorKind.CONTEXT_LENGTH,
            False,
        ),
        ([{"error": {"message": "no", "status": "PERMISSION_DENIED"}}], ErrorKind.AUTH, False),
    ],
)
def test_an_error_in_the_stream_ends_it(error, kind, retryable):
    assembler = Assembler(WireNames(()), lambda: "x", PlainAnswer())
    assembler.feed([error])
    assert assembler.fault
    assert (assembler.fault.kind, assembler.fault.retryable) == (kind, retryable)


@pytest.mark.parametrize("finish", ["content_filter", "error"])
def test_an_answer_that_the_provider_broke_off_is_none(finish):
    with pytest.raises(ModelError):
        assemble({"content": "Half"}, {"tool_calls": [part("list_dir", "{}", 0, "a")]}, finish=finish)


def test_an_answer_of_thinking_alone_says_nothing():
    with pytest.raises(ModelError) as caught:
        assemble({"reasoning_content": "Hm."})
    assert caught.value.kind is ErrorKind.EMPTY_RESPONSE


def test_too_many_calls_are_no_answer():
    many = [part("list_dir", "{}", at, f"i{at}") for at in range(MAX_CALLS + 1)]
    with pytest.raises(ModelError) as caught:
        assemble({"tool_calls": many})
    assert caught.value.kind is ErrorKind.BAD_RESPONSE


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(
                st.sampled_from(
                    [
                        "choices",
                        "delta",
                        "content",
                        "tool_calls",
                        "function",
                        "name",
                        "arguments",
                        "index",
                        "id",
                        "usage",
                        "error",
                        "finish_reason",
                        "message",
                        "text",
                        "type",
                        "reasoning",
                        "x_groq",
                        "function_call",
                        "reasoning_details",
                    ]
                ),
                inner,
                max_size=5,
            )
        ),
        max_leaves=12,
    )
)
def test_no_chunk_of_any_shape_breaks_it(value):
    assembler = Assembler(WireNames(TOOLS), lambda: "x", PlainAnswer())
    for chunk in (value, {"choices": [{"delta": value}]}, {"choices": [value], "usage": value}):
        assembler.feed([chunk])
    assembler.end_mark()
    shown = assembler.close()
    assert all(isinstance(delta, ModelDelta) for delta in shown)
