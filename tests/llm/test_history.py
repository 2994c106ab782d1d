"""Whatever a transcript holds, the request built from it is valid for every provider, and says what happened."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentweb.engine.enums import Invalid, Purpose, ResultKind
from agentweb.engine.messages import AssistantMessage, Message, ToolCall, ToolResult, UserMessage
from agentweb.engine.ports import ToolSpec
from agentweb.llm.config import ModelConfig, SendThinking, ToolProtocol
from agentweb.llm.history import build_messages, keep_last, validate_history
from agentweb.llm.identifiers import accepted_ids
from agentweb.llm.names import WIRE_NAME, WireNames
from agentweb.llm.protocols.native import build_tools
from agentweb.llm.request import build_request
from agentweb.llm.results import MISSING_RESULT
from tests.llm.asking import request

NAMES = WireNames(["read_file", "list_dir"])


def user(text: str, author: str = "Ann") -> UserMessage:
    return UserMessage(f"u-{text[:8]}", text, author)


def call(own: str, name: str = "read_file", provider_id: str = "", **arguments: object) -> ToolCall:
    return ToolCall(own, name, arguments, json.dumps(arguments), provider_id)


def asks(*calls: ToolCall, text: str = "", thinking: str = "", **extra: object) -> AssistantMessage:
    return AssistantMessage("a", text, thinking, calls, extra=extra)


def build(*messages: Message, **options: object) -> list[dict]:
    built = build_messages("You are a helper.", messages, NAMES, **options)
    assert validate_history(built, strict_roles=bool(options.get("strict_roles"))) == []
    return built


def said(built: list[dict]) -> list[tuple[str, str]]:
    return [(m["role"], m["content"]) for m in built[1:]]


def test_a_call_without_a_result_gets_one_that_says_it_was_cancelled():
    built = build(
        user("Compare the two files"),
        asks(call("c1", path="a"), call("c2", path="b")),
        ToolResult("c1", "AAA"),
        user("Never mind, only a"),
    )
    assert said(built)[2:] == [("tool", "AAA"), ("tool", MISSING_RESULT), ("user", "Never mind, only a")]
    assert "cancelled by the user" in MISSING_RESULT


def test_a_message_sent_while_a_tool_ran_comes_after_its_result():
    built = build(user("List"), asks(call("c1", "list_dir")), user("and be quick"), ToolResult("c1", "x y z"))
    assert [role for role, _ in said(built)] == ["user", "assistant", "tool", "user"]


def test_results_keep_the_order_of_their_calls():
    built = build(user("q"), asks(call("c1"), call("c2")), ToolResult("c2", "two"), ToolResult("c1", "one"))
    assert [content for _, content in said(built)[2:]] == ["one", "two"]


def test_a_result_without_its_call_is_left_out():
    assert said(build(ToolResult("gone", "22 degrees"), user("And tomorrow?"))) == [("user", "And tomorrow?")]


@pytest.mark.parametrize("count", range(8))
def test_keeping_the_last_messages_never_parts_a_call_from_its_result(count):
    messages = [
        user("old 1"),
        AssistantMessage("a1", "old 2"),
        user("Weather?"),
        asks(call("c1", city="Rome")),
        ToolResult("c1", "22 degrees"),
        AssistantMessage("a2", "It is 22 degrees."),
        user("And tomorrow?"),
    ]
    built = build(*keep_last(messages, count))
    assert built[0]["role"] == "system" and said(built)[-1] == ("user", "And tomorrow?")
    assert MISSING_RESULT not in [content for _, content in said(built)]


def test_keeping_the_last_messages_keeps_the_question_that_is_worked_on():
    messages = [user("Do it"), asks(call("c1")), ToolResult("c1", "one"), asks(call("c2")), ToolResult("c2", "two")]
    assert [m for m in keep_last(messages, 2) if isinstance(m, UserMessage)] == [messages[0]]


@pytest.mark.parametrize("late_first", [False, True])
def test_the_real_result_wins_over_a_placeholder(late_first):
    results = [ToolResult("g", "Cancelled by the user.", ResultKind.CANCELLED), ToolResult("g", "3 files found")]
    built = build(user("Find logs"), asks(call("g")), *(reversed(results) if late_first else results), user("ok"))
    assert said(built)[2:] == [("tool", "3 files found"), ("user", "ok")]


@pytest.mark.parametrize("wrapped", ["{}", "see ![shot]({}) here", '{{"image": "{}"}}'])
def test_a_picture_in_base64_becomes_a_note(wrapped):
    picture = "data:image/png;base64," + "iVBORw0KGgoA" * 125_000
    built = build(user("Shoot"), asks(call("s")), ToolResult("s", wrapped.format(picture)), user("What is it?"))
    content = said(built)[2][1]
    assert len(content) < 200 and "image/png" in content and "1.1 MB" in content and "s" in content


def test_bare_encoded_data_becomes_a_note_too():
    content = said(build(user("q"), asks(call("s")), ToolResult("s", '{"data": "' + "QUJD" * 5000 + '"}')))[2][1]
    assert content.startswith('{"data": "[encoded data, 15.0 kB') and len(content) < 120


def test_ordinary_long_text_is_left_alone():
    text = "word " * 5000
    assert said(build(user("q"), asks(call("s")), ToolResult("s", text)))[2][1] == text


def test_empty_assistant_messages_are_left_out():
    built = build(user("Hi"), AssistantMessage("a", " \n", thinking="hm"), user("Are you there?"))
    assert said(built) == [("user", "Hi"), ("user", "Are you there?")]


def test_neighbours_of_one_role_are_merged_only_where_roles_must_alternate():
    messages = (
        user("Do X"),
        user("Stop, do Y"),
        AssistantMessage("a1", "ok"),
        AssistantMessage("a2", "done"),
        user("Z"),
    )
    assert len(build(*messages)) == 6
    assert said(build(*messages, strict_roles=True)) == [
        ("user", "Do X\n\nStop, do Y"),
        ("assistant", "ok\n\ndone"),
        ("user", "Z"),
    ]


def test_merging_keeps_calls_next_to_their_results():
    built = build(
        user("q"), AssistantMessage("a1", "Let me see."), asks(call("c1")), ToolResult("c1", "r"), strict_roles=True
    )
    assert [m["role"] for m in built] == ["system", "user", "assistant", "tool"]
    assert built[2]["content"] == "Let me see." and len(built[2]["tool_calls"]) == 1


@pytest.mark.parametrize(
    ("raw", "arguments", "sent"),
    [
        ('{"path":"a","text":"unfin', None, {}),
        ('{"path": "a"}', {"path": "a"}, {"path": "a"}),
        ('"{\\"path\\": \\"a\\"}"', {"path": "a"}, {"path": "a"}),
        ('{"path": "a"}}<|im_end|>', {"path": "a"}, {"path": "a"}),
        ("", {}, {}),
    ],
)
def test_arguments_are_always_the_text_of_an_object(raw, arguments, sent):
    old = ToolCall("w", "read_file", arguments, raw, invalid=None if arguments is not None else Invalid.TRUNCATED)
    built = build(user("Write"), asks(old), ToolResult("w", "x", ResultKind.INVALID_ARGUMENTS), user("Again"))
    assert json.loads(built[2]["tool_calls"][0]["function"]["arguments"]) == sent


def test_argument_text_that_is_valid_goes_back_letter_by_letter():
    raw = '{"path" :"a"}'
    built = build(user("q"), asks(ToolCall("w", "read_file", {"path": "a"}, raw)), ToolResult("w", "r"))
    assert built[2]["tool_calls"][0]["function"]["arguments"] == raw


def test_provider_ids_are_kept_until_they_are_used_again():
    again = "functions.eval:0"
    built = build(
        user("1"),
        asks(call("own1", provider_id=again)),
        ToolResult("own1", "first"),
        user("2"),
        asks(call("own2", provider_id=again), call("own3")),
        ToolResult("own2", "second"),
        ToolResult("own3", "third"),
    )
    tools = {m["tool_call_id"]: m["content"] for m in built if m["role"] == "tool"}
    assert tools == {again: "first", "own2": "second", "own3": "third"}


@pytest.mark.parametrize(
    ("base_url", "theirs", "goes_back"),
    [
        ("https://api.mistral.ai/v1", "D681PevKs", True),
        ("https://api.mistral.ai/v1", "call_abc", False),
        ("https://api.anthropic.com/v1", "functions.eval:0", False),
        ("https://api.openai.com/v1", "x" * 41, False),
        ("https://api.moonshot.ai/v1", "functions.eval:0", True),
        ("http://127.0.0.1:8000/v1", "two words", False),
        ("http://127.0.0.1:8000/v1", "x" * 65, False),
    ],
)
def test_ids_have_a_form_that_the_server_takes(base_url, theirs, goes_back):
    ids = accepted_ids(base_url)
    messages = [user("q"), asks(call("call_" + "f" * 32, provider_id=theirs), call("own")), ToolResult("own", "r")]
    built = build_messages("", messages, NAMES, ids=ids)
    assert validate_history(built, ids=ids) == []
    first = built[1]["tool_calls"][0]["id"]
    assert (first == theirs) is goes_back
    assert built == build_messages("", messages, NAMES, ids=ids)


def test_a_file_in_arguments_becomes_a_note():
    page = "<img src='data:image/png;base64," + "iVBORw0KGgoA" * 500 + "'> and the rest"
    built = build(user("q"), asks(call("c", "read_file", files=[{"text": page}])), ToolResult("c", "r"))
    sent = json.loads(built[2]["tool_calls"][0]["function"]["arguments"])["files"][0]["text"]
    assert len(sent) < 120 and "image/png" in sent and sent.endswith("and the rest")


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_thinking_goes_back_with_calls_under_the_name_it_came_with(field):
    thought = asks(call("c1"), thinking="I need it.", thinking_field=field)
    messages = (
        user("q"),
        thought,
        ToolResult("c1", "r"),
        AssistantMessage("b", "A.", "Hm.", extra={"thinking_field": field}),
    )
    assert [field in m for m in build(*messages)] == [False, False, True, False, False]
    assert [field in m for m in build(*messages, send_thinking=SendThinking.ALWAYS)][-1]
    assert not any(field in m for m in build(*messages, send_thinking=SendThinking.NEVER))


def test_what_stood_beside_a_call_goes_back_unchanged():
    signed = ToolCall("c1", "read_file", {}, "{}", extra={"extra_content": {"google": {"thought_signature": "c2ln"}}})
    built = build(user("q"), asks(signed), ToolResult("c1", "r"))
    assert built[2]["tool_calls"][0]["extra_content"] == {"google": {"thought_signature": "c2ln"}}


def test_names_are_told_only_when_several_people_speak():
    assert said(build(user("Hi", "Ann"), user("a system note", ""))) == [("user", "Hi"), ("user", "a system note")]
    several = build(user("Hi", "Ann"), user("Me too", "Ben"), user("a system note", ""))
    assert said(several) == [("user", "Ann: Hi"), ("user", "Ben: Me too"), ("user", "a system note")]


@pytest.mark.parametrize(
    ("kind", "content", "sent"),
    [
        (ResultKind.ERROR, "File not found: a", "Error: File not found: a"),
        (ResultKind.REJECTED, "Not run: rejected by Ann: no", "Not run: rejected by Ann: no"),
        (ResultKind.TIMEOUT, "5 s", "Timed out: 5 s"),
        (ResultKind.OK, "", "(no output)"),
        (ResultKind.DENIED, "", "Not allowed."),
    ],
)
def test_a_result_says_what_kind_it_is(kind, content, sent):
    assert said(build(user("q"), asks(call("c")), ToolResult("c", content, kind)))[2] == ("tool", sent)


def test_names_that_providers_refuse_are_sent_safely_and_mapped_back():
    true = ["calendar.create", "New Tool", "a/b", "日历", "", "a_b", "x" * 80, "x" * 81, "fine-name_1"]
    names = WireNames(true)
    wired = [names.wire(name) for name in true]
    assert all(WIRE_NAME.match(wire) for wire in wired) and len(set(wired)) == len(true)
    assert [names.true(wire) for wire in wired] == true
    assert names.wire("fine-name_1") == "fine-name_1" and names.wire("a_b") == "a_b"


@pytest.mark.parametrize(
    ("received", "found"),
    [
        ("functions.get_weather", "get_weather"),
        ("default_api:get_weather", "get_weather"),
        ("create", "calendar.create"),
        ("tools/calendar.create", "calendar.create"),
        ("delete", None),
        ("nothing", None),
    ],
)
def test_a_namespace_is_passed_over_where_one_tool_fits(received, found):
    assert WireNames(["get_weather", "calendar.create", "a.delete", "b.delete"]).find(received) == found


@pytest.mark.parametrize(
    "parameters", [{"type": "object"}, None, {}, {"type": "object", "properties": {"tags": {"type": "array"}}}]
)
def test_schemas_are_filled_up(parameters):
    tool = ToolSpec("t", "T", "Does.", parameters)
    (definition,) = build_tools([tool], WireNames(["t"]))
    schema = definition["function"]["parameters"]
    assert schema["type"] == "object" and "properties" in schema
    assert all("items" in prop for prop in schema["properties"].values())


_texts = st.text(max_size=12) | st.sampled_from(
    ["", " ", "\x00", "data:image/png;base64,AAAABBBBCCCCDDDDEEEE", "\ud83d"]
)
_ids = st.sampled_from(["", "p1", "p2"])
_calls = st.builds(
    ToolCall,
    id=st.sampled_from([f"c{n}" for n in range(6)]),
    name=st.sampled_from(["read_file", "New Tool", "", "日历"]),
    arguments=st.none() | st.dictionaries(_texts, st.integers() | _texts, max_size=2),
    raw=st.sampled_from(["", "{}", '{"a": ', "[1]"]),
    provider_id=_ids,
)
_messages = st.one_of(
    st.builds(UserMessage, id=st.just("u"), text=_texts, author=st.sampled_from(["", "Ann", "Ben"])),
    st.builds(AssistantMessage, id=st.just("a"), text=_texts, calls=st.lists(_calls, max_size=3).map(tuple)),
    st.builds(
        ToolResult,
        call=st.sampled_from([f"c{n}" for n in range(8)]),
        content=_texts,
        kind=st.sampled_from(list(ResultKind)),
    ),
)


@given(
    messages=st.lists(_messages, max_size=12),
    strict=st.booleans(),
    count=st.integers(0, 12),
    protocol=st.sampled_from(ToolProtocol),
    tools=st.booleans(),
    purpose=st.sampled_from([Purpose.TURN, Purpose.WRAP_UP]),
)
def test_any_transcript_makes_a_valid_request(messages, strict, count, protocol, tools, purpose):
    config = ModelConfig("m", "http://127.0.0.1:1/v1", "m", strict_roles=strict, protocol=protocol)
    specs = [ToolSpec("read_file", "Read", "Reads.", {}), ToolSpec("日历", "Calendar", "", None)] if tools else []
    for some in (messages, keep_last(messages, count)):
        body = build_request(config, request(some, specs, purpose=purpose)).body
        assert validate_history(body["messages"], strict_roles=strict) == []


RESULT = {"role": "tool", "tool_call_id": "c", "content": "x"}
PICTURE = {"name": "f", "arguments": '{"a": "data:image/png;base64,AAAABBBBCCCCDDDDEEEE"}'}


def test_the_validator_sees_every_fault():
    good_call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    faults = [
        [{"role": "tool", "tool_call_id": "c", "content": "x"}],
        [{"role": "assistant", "content": "", "tool_calls": [good_call]}],
        [{"role": "assistant", "tool_calls": [good_call]}, {"role": "user", "content": "hi"}],
        [{"role": "assistant", "content": ""}],
        [{"role": "user", "content": "hi"}, {"role": "system", "content": "late"}],
        [{"role": "assistant", "tool_calls": [{**good_call, "id": ""}]}],
        [{"role": "assistant", "tool_calls": [{**good_call, "function": {"name": "a b", "arguments": "{}"}}]}],
        [{"role": "assistant", "tool_calls": [{**good_call, "function": {"name": "f", "arguments": "[1]"}}]}],
        [{"role": "assistant", "tool_calls": [{**good_call, "id": "two words"}]}, RESULT],
        [{"role": "assistant", "tool_calls": [{**good_call, "function": PICTURE}]}, RESULT],
        [{"role": "user", "content": "data:image/png;base64,AAAABBBBCCCCDDDDEEEE"}],
        [{"role": "user", "content": ["a part"]}],
        [{"role": "poet", "content": "x"}],
    ]
    assert all(validate_history(messages) for messages in faults)
