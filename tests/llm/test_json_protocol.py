"""Tools in one JSON object: thought and final answer stream out of it, and any names for its fields are understood."""

import itertools
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentweb.engine.enums import DeltaKind, Finish, Purpose
from agentweb.engine.ports import ModelError
from agentweb.llm.config import Structured, ToolProtocol
from agentweb.llm.protocols.json_action import reply_schema
from agentweb.schema.validate import validate
from tests.llm.asking import spec
from tests.llm.spoken import TOOLS, WEATHER, Heard, asked, hear, hear_alike

WIRE = asked(ToolProtocol.JSON_ACTION)
ROME = ("get_weather", {"city": "Rome"})


def read(text: str, finish: str = "stop") -> Heard:
    return hear_alike(WIRE, text, finish)


def call(**fields: object) -> str:
    return json.dumps({"thought": "I look.", "step": "CALL_TOOL", "tool_name": "get_weather", **fields})


@pytest.mark.parametrize(
    "text",
    [
        call(arguments={"city": "Rome"}),
        json.dumps(json.loads(call(arguments={"city": "Rome"})), indent=2),
        call(arguments='{"city": "Rome"}'),
        call(args={"city": "Rome"}),
        call(arguments={"city": "Rome"}, final_answer=""),
        call(arguments={"city": "Rome"}, final_answer=None),
        call(arguments={"city": "Rome"}, final_answer="I will tell you."),
        "```json\n" + call(arguments={"city": "Rome"}) + "\n```",
        "\n\n" + call(arguments={"city": "Rome"}) + "\n",
        '{"Thought": "I look.", "Step": "call_tool", "Tool Name": "get_weather", "Arguments": {"city": "Rome"}}',
        '{"thought": "I look.", "action": "get_weather", "action_input": {"city": "Rome"}}',
        '{"thought": "I look.", "tool": "functions.get_weather", "parameters": {"city": "Rome"}}',
        '{"thought": "I look.", "tool": {"name": "get_weather", "arguments": {"city": "Rome"}}}',
        '{"thought": "I look.", "action": "CALL_TOOL", "tool_name": "get_weather", "arguments": {"city": "Rome"}}',
    ],
)
def test_a_call_is_read_under_any_names(text):
    heard = read(text)
    assert heard.calls == [ROME]
    assert (heard.text, heard.thinking, heard.invented) == ("", "I look.", "")
    assert heard.reply.finish is Finish.TOOL_CALLS


@pytest.mark.parametrize(
    "text",
    [
        '{"thought": "I know.", "step": "FINISH", "final_answer": "It is\\n26 °C."}',
        '{"thought": "I know.", "step": "finish", "tool": null, "args": null, "final_answer": "It is\\n26 °C."}',
        '{"thought": "I know.", "step": "FINISH", "tool_name": "", "arguments": {}, "final_answer": "It is\\n26 °C."}',
        '{"thought": "I know.", "final_answer": "It is\\n26 °C."}',
        '{"thought": "I know.", "answer": "It is\\n26 \\u00b0C."}',
        '{"thought": "I know.", "action": "Final Answer", "action_input": "It is\\n26 °C."}',
        '{"thought": "I know.", "step": "FINISH", "final_answer": "It is\n26 °C."}',
    ],
)
def test_an_answer_is_read_under_any_names(text):
    heard = read(text)
    assert (heard.text, heard.thinking, heard.calls) == ("It is\n26 °C.", "I know.", [])
    assert heard.reply.finish is Finish.STOP


def test_thought_and_answer_stream_as_they_come():
    pieces = [
        '{"tho',
        'ught": "I',
        " kn",
        'ow", "step": "FIN',
        'ISH", "final_answer": "a',
        "\\",
        "n",
        "b\\u00",
        'e4"',
        "}",
    ]
    shown = [(delta.kind, delta.text) for delta in hear(WIRE, pieces).deltas]
    thinking, text = DeltaKind.THINKING, DeltaKind.TEXT
    assert shown == [
        (thinking, "I"),
        (thinking, " kn"),
        (thinking, "ow"),
        (text, "a"),
        (text, "\n"),
        (text, "b"),
        (text, "ä"),
    ]


def test_words_before_the_object_are_thinking():
    heard = read("Let me see {what} I have.\n" + call(arguments={"city": "Rome"}))
    assert (heard.thinking, heard.text, heard.calls) == ("Let me see {what} I have.\n\nI look.", "", [ROME])


def test_what_stands_behind_the_object_is_cut_and_reported():
    heard = read(call(arguments={"city": "Rome"}) + '\n{"result": "26 °C"}')
    assert (heard.calls, heard.invented) == ([ROME], '{"result": "26 °C"}')


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("I will look at the weather.", "no JSON object"),
        ('{"thought": "Hm."}', "CALL_TOOL or FINISH"),
        ('{"thought": "Hm.", "step": "THINK"}', "CALL_TOOL or FINISH"),
        ('{"thought": "Hm.", "step": "CALL_TOOL", "arguments": {}}', "needs a tool_name"),
        ('{"thought": "Hm.", "step": "FINISH"}', "needs a final_answer"),
        ('{"thought": "Hm.", "tool_name": "get_time", "final_answer": "It is late."}', "never stand in the same reply"),
        ('{"thought": "He said "hi" to me", "step": "FINISH"}', "not valid JSON"),
        ("{thought: 1}", "not valid JSON"),
    ],
)
def test_a_reply_of_another_form_is_refused_with_the_form_and_the_error(text, detail):
    (refused,) = read(text).reply.calls
    assert (refused.invalid, refused.arguments) == ("form", None)
    assert detail in refused.detail and '"step": "FINISH"' in refused.detail


@pytest.mark.parametrize("finish", ["stop", "length"])
@pytest.mark.parametrize("cut", [1, 5, 20])
def test_a_call_that_was_cut_off_never_runs(finish, cut):
    text = call(arguments={"city": "Rome"})
    heard = read(text[:-cut], finish)
    assert heard.calls == [("get_weather", "truncated")]


def test_an_answer_that_was_cut_off_is_what_there_is_of_it():
    heard = read('{"thought": "I know.", "step": "FINISH", "final_answer": "It is 2', "length")
    assert (heard.text, heard.calls, heard.reply.finish) == ("It is 2", [], Finish.LENGTH)


@pytest.mark.parametrize(
    ("arguments", "why"), [(["Rome"], "not_object"), ("Rome", "malformed"), ('{"city": "Ro', "truncated")]
)
def test_arguments_are_never_completed_by_guessing(arguments, why):
    assert read(call(arguments=arguments)).calls == [("get_weather", why)]


def test_at_a_wrap_up_an_answer_is_taken_in_any_form_and_no_call_is_made():
    wire = asked(ToolProtocol.JSON_ACTION, purpose=Purpose.WRAP_UP)
    for text in ("Not finished.", '{"step": "FINISH", "final_answer": "Not finished."}'):
        assert (hear_alike(wire, text).text, hear_alike(wire, text).calls) == ("Not finished.", [])
    with pytest.raises(ModelError):
        hear(wire, [call(arguments={"city": "Rome"})])


def test_without_tools_everything_is_plain_text():
    wire = asked(ToolProtocol.JSON_ACTION, (), structured=Structured.JSON_SCHEMA)
    assert "response_format" not in wire.body
    assert hear_alike(wire, '{"answer": 1}').text == '{"answer": 1}'


@given(
    thought=st.text(max_size=20),
    answer=st.text(max_size=40).filter(str.strip),
    plain=st.booleans(),
    cuts=st.lists(st.integers(0, 120), max_size=6),
)
@settings(max_examples=60)
def test_any_text_comes_out_as_it_went_in(thought, answer, plain, cuts):
    text = json.dumps({"thought": thought, "step": "FINISH", "final_answer": answer}, ensure_ascii=not plain)
    edges = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    heard = hear(WIRE, [text[a:b] for a, b in itertools.pairwise(edges)])
    same = lambda said: said.replace("\x00", "\N{REPLACEMENT CHARACTER}")  # noqa: E731
    assert (same(heard.thinking), same(heard.text)) == (same(thought), same(answer))


# --- what is asked for ------------------------------------------------------------------------------------------------


def test_the_format_that_is_asked_for_is_as_much_as_the_server_knows():
    assert "response_format" not in WIRE.body
    loose = asked(ToolProtocol.JSON_ACTION, structured=Structured.JSON_OBJECT).body["response_format"]
    assert loose == {"type": "json_object"}
    strict = asked(ToolProtocol.JSON_ACTION, structured=Structured.JSON_SCHEMA).body["response_format"]
    assert strict["type"] == "json_schema" and strict["json_schema"]["schema"]["type"] == "object"
    last = asked(ToolProtocol.JSON_ACTION, structured=Structured.JSON_SCHEMA, purpose=Purpose.WRAP_UP)
    (only,) = last.body["response_format"]["json_schema"]["schema"]["anyOf"]
    assert only["properties"]["step"]["enum"] == ["FINISH"]


@pytest.mark.parametrize(
    ("reply", "fits"),
    [
        ({"thought": "", "step": "CALL_TOOL", "tool_name": "get_weather", "arguments": {"city": "Rome"}}, True),
        ({"thought": "", "step": "FINISH", "final_answer": "Yes."}, True),
        ({"thought": "", "step": "CALL_TOOL", "tool_name": "get_weather", "arguments": {}}, False),
        ({"thought": "", "step": "CALL_TOOL", "tool_name": "get_wether", "arguments": {"city": "Rome"}}, False),
        ({"thought": "", "step": "FINISH", "tool_name": "get_time", "arguments": {}}, False),
        ({"step": "FINISH", "final_answer": "Yes."}, False),
    ],
)
def test_the_format_is_made_of_the_schemas_of_the_tools(reply, fits):
    schema = reply_schema(TOOLS, WIRE.names)
    assert (validate(schema, reply) == []) is fits


def test_limits_that_make_grammars_slow_are_left_to_the_tool():
    places = {"type": "array", "items": {"type": "string", "maxLength": 90, "pattern": "^[A-Z]"}, "maxItems": 3}
    properties = {"pattern": {"type": "string"}, "places": places}
    (going, _) = reply_schema([spec("go", {"type": "object", "properties": properties})], WIRE.names)["anyOf"]
    assert going["properties"]["arguments"]["properties"] == {
        "pattern": {"type": "string"},
        "places": {"type": "array", "items": {"type": "string"}},
    }
    assert places["maxItems"] == 3, "the tool keeps its schema"


def test_references_inside_a_tool_schema_still_lead_somewhere():
    inner = {"$defs": {"place": {"enum": ["Rome"]}}, "properties": {"at": {"$ref": "#/$defs/place"}}}
    schema = reply_schema([spec("go", {"type": "object", **inner, "required": ["at"]}), WEATHER], WIRE.names)
    going = {"thought": "", "step": "CALL_TOOL", "tool_name": "go", "arguments": {"at": "Rome"}}
    assert validate(schema, going) == []
    assert validate(schema, {**going, "arguments": {"at": "R"}})
