"""Tools in lines of text: every way in which models write them is read alike, and nothing of the marks is shown."""

import pytest

from agentweb.engine.enums import DeltaKind, Finish, Purpose
from agentweb.engine.ports import ModelError
from agentweb.llm.config import ToolProtocol
from tests.llm.spoken import Heard, asked, hear, hear_alike

WIRE = asked(ToolProtocol.TEXT)
ROME = ("get_weather", {"city": "Rome"})


def read(text: str, finish: str = "stop") -> Heard:
    return hear_alike(WIRE, text, finish)


@pytest.mark.parametrize(
    "text",
    [
        'Thought: I need it.\nAction: get_weather\nAction Input: {"city": "Rome"}',
        'Thought: I need it.\n\nAction: get_weather\n\nAction Input:\n{"city": "Rome"}\n',
        'thought: I need it.\naction: get_weather\naction input: {"city": "Rome"}',
        '**Thought:** I need it.\n**Action:** get_weather\n**Action Input:** {"city": "Rome"}',
        '### Thought\nI need it.\n### Action\nget_weather\n### Action Input\n{"city": "Rome"}',
        'Thought 1: I need it.\nAction 1: get_weather\nAction Input 1: {"city": "Rome"}',
        '- Thought: I need it.\n- Action: get_weather\n- Action_Input: {"city": "Rome"}',
        '思考：I need it.\n行动：get_weather\n行动输入：{"city": "Rome"}',
        'Thought: I need it.\nAction: `get_weather`\nAction Input: `{"city": "Rome"}`',
        'Thought: I need it.\nAction: get_weather\nAction Input:\n```json\n{"city": "Rome"}\n```',
        'Thought: I need it.\nAction:\n```\nget_weather\n```\nAction Input: {"city": "Rome"}',
        '```\nThought: I need it.\nAction: get_weather\nAction Input: {"city": "Rome"}\n```',
        'Thought: I need it.\nAction: get_weather\nAction Input: {\n  "city": "Rome"\n}',
        'Thought: I need it.\nAction: get_weather({"city": "Rome"})',
        'Thought: I need it.\nAction: get_weather {"city": "Rome"}',
        "Thought: I need it.\nAction: get_weather[Rome]",
        'Thought: I need it.\nAction: get_weather("Rome")',
        "Thought: I need it.\nAction: get_weather\nAction Input: Rome",
        'Thought: I need it.\nAction: get_weather\nAction Input: "Rome"',
        'Thought: I need it.\nAction: get_weather\nAction Input: "{\\"city\\": \\"Rome\\"}"',
        'Thought: I need it.\nAction: get_weather Action Input: {"city": "Rome"}',
        'Thought: I need it.\nTool: get_weather\nTool Input: {"city": "Rome"}',
        'Thought: I need it.\nAction: functions.get_weather\nAction Input: {"city": "Rome"}',
        'Thought: I need it.\nAction:\n```json\n{"action": "get_weather", "action_input": {"city": "Rome"}}\n```',
        'Thought: I need it.\nAction: {"action": "get_weather", "action_input": {"city": "Rome"}}',
        'Thought: I need it.\n```json\n{"action": "get_weather", "action_input": {"city": "Rome"}}\n```',
        'Thought: I need it.\n{"action": "get_weather", "action_input": {"city": "Rome"}}',
        'Thought: I need it.\n{"name": "get_weather", "arguments": {"city": "Rome"}}',
        'Thought: I need it.\n<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>',
        'Thought: I need it.\n<tool_call>\n{"name": "get_weather", "arguments": {"city": "Rome"}}\n</tool_call>\n',
        'Thought: I need it.\n<tool>get_weather</tool>\n<tool_input>{"city": "Rome"}</tool_input>',
        "Thought: I need it.\n<tool>get_weather</tool><tool_input>Rome</tool_input>",
        'Thought: I need it.\n<tool>get_weather {"city": "Rome"}</tool>',
        'Thought: I need it.\n<action>get_weather</action>\n<action_input>{"city": "Rome"}</action_input>',
        '<thought>I need it.</thought>\n<tool_call>{"name": "get_weather", "arguments": {"city": "Rome"}}</tool_call>',
        '<think>I need it.</think>\n\nAction: get_weather\nAction Input: {"city": "Rome"}',
    ],
)
def test_a_call_is_read_in_every_spelling(text):
    heard = read(text)
    assert heard.calls == [ROME]
    assert (heard.text, heard.thinking, heard.invented) == ("", "I need it.", "")
    assert heard.reply.finish is Finish.TOOL_CALLS and not heard.reply.calls[0].recovered


@pytest.mark.parametrize(
    "text",
    [
        "Thought: I know it.\nFinal Answer: It is 26 °C.",
        "Thought: I know it.\n\nFinal Answer:\nIt is 26 °C.\n",
        "thought: I know it.\nFinal answer: It is 26 °C.",
        "**Thought**: I know it.\n**Final Answer**: It is 26 °C.",
        "## Thought\nI know it.\n## Final Answer\nIt is 26 °C.",
        "思考：I know it.\n最终答案：It is 26 °C.",
        "```\nThought: I know it.\nFinal Answer: It is 26 °C.\n```",
        'Thought: I know it.\nAction: Final Answer\nAction Input: "It is 26 °C."'.replace('"', ""),
        "Thought: I know it.\nAction: Finish[It is 26 °C.]",
        'Thought: I know it.\n```json\n{"action": "Final Answer", "action_input": "It is 26 °C."}\n```',
        "<thought>I know it.</thought><answer>It is 26 °C.</answer>",
        "<think>I know it.</think>\n<final_answer>It is 26 °C.</final_answer>\n",
        "<think>I know it.</think>It is 26 °C.",
    ],
)
def test_an_answer_is_read_in_every_spelling(text):
    heard = read(text)
    assert (heard.text, heard.thinking, heard.calls) == ("It is 26 °C.", "I know it.", [])
    assert heard.reply.finish is Finish.STOP


def test_thought_and_answer_stream_as_they_come():
    heard = hear(WIRE, ["Thought", ": I ", "know", " it.", "\nFinal ", "Answer: It", " is", " 26."])
    shown = [(delta.kind, delta.text) for delta in heard.deltas]
    thinking, text = DeltaKind.THINKING, DeltaKind.TEXT
    assert shown == [
        (thinking, "I"),
        (thinking, " know"),
        (thinking, " it."),
        (text, "It"),
        (text, " is"),
        (text, " 26."),
    ]


def test_an_answer_without_any_mark_is_an_answer():
    assert (read("Hello! How can I help?").text, read("Hello!").calls) == ("Hello! How can I help?", [])


def test_words_before_the_first_mark_are_shown_as_with_any_model():
    heard = read('I will look.\nAction: get_weather\nAction Input: {"city": "Rome"}')
    assert (heard.text, heard.thinking, heard.calls) == ("I will look.", "", [ROME])


@pytest.mark.parametrize("mark", ["Observation: 26 °C", "**Observation:** 26 °C", "观察：26 °C", "<observation>26 °C"])
def test_what_the_model_invents_after_an_observation_is_cut_and_reported(mark):
    heard = read(
        f'Thought: I look.\nAction: get_weather\nAction Input: {{"city": "Rome"}}\n{mark}\nThought: I know.\n'
        "Final Answer: It is 26 °C."
    )
    assert (heard.text, heard.thinking, heard.calls) == ("", "I look.", [ROME])
    assert heard.invented.startswith("26 °C") and "Final Answer" in heard.invented


def test_a_stop_that_a_server_repeats_is_no_invention():
    heard = read("Thought: I look.\nAction: get_time\nAction Input: {}\nObservation:")
    assert (heard.calls, heard.invented) == ([("get_time", {})], "")


def test_only_the_first_of_several_actions_counts_and_the_rest_is_reported():
    heard = read(
        'Thought: Both.\nAction: get_weather\nAction Input: {"city": "Rome"}\nAction: get_time\nAction Input: {}'
    )
    assert heard.calls == [ROME] and "get_time" in heard.invented


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ('Action: get_weather\nAction Input: {"city": "Rome"}\nFinal Answer: It is warm.', ""),
        ('Action: get_weather\nAction Input: {"city": "Rome"}\nThought: So.\nFinal Answer: It is warm.', ""),
        ('Final Answer: It is warm.\nAction: get_weather\nAction Input: {"city": "Rome"}', "It is warm."),
    ],
)
def test_an_action_beside_a_final_answer_is_refused_with_the_rule(text, shown):
    heard = read(text)
    assert (heard.text, heard.calls) == (shown, [("get_weather", "form")])
    assert "Action and Final Answer never stand in the same reply" in heard.reply.calls[0].detail


@pytest.mark.parametrize(
    ("text", "detail"),
    [
        ("Thought: I should look at the weather.", "neither an Action nor a Final Answer"),
        ("Thought: I look.\nAction:", "which tool"),
        ("Thought: I look.\nAction:\nAction Input: {}", "which tool"),
        ("Final Answer:", "neither an Action nor a Final Answer"),
        ("Observation: 26 °C", "neither an Action nor a Final Answer"),
        ('Thought: I look.\n```json\n{"action": "get_weather", "action_input": {"city": \n```', "which tool"),
    ],
)
def test_a_reply_that_is_neither_is_refused_with_the_form(text, detail):
    heard = read(text)
    (call,) = heard.reply.calls
    assert (call.invalid, call.arguments) == ("form", None)
    assert detail in call.detail and "Final Answer:" in call.detail and heard.text == ""


@pytest.mark.parametrize(
    ("given", "finish", "why"),
    [
        ('{"city": "Ro', "stop", "truncated"),
        ('{"city": "Ro', "length", "truncated"),
        ('{"city": }', "stop", "malformed"),
        ('["Rome"]', "stop", "not_object"),
        ("Ro", "length", "truncated"),
        ("", "length", "truncated"),
    ],
)
def test_broken_input_is_never_completed(given, finish, why):
    heard = read(f"Thought: I look.\nAction: get_weather\nAction Input: {given}", finish)
    assert heard.calls == [("get_weather", why)]


def test_junk_behind_whole_input_is_dropped():
    assert read('Action: get_weather\nAction Input: {"city": "Rome"}}\n\nI hope it helps').calls == [ROME]


@pytest.mark.parametrize("given", ["{}", "", "None", "null", "N/A"])
def test_a_tool_that_takes_nothing_takes_any_word_for_it(given):
    assert read(f"Action: get_time\nAction Input: {given}").calls == [("get_time", {})]


def test_marks_inside_arguments_are_part_of_them():
    text = "Thought: no\nObservation: none\nFinal Answer: x"
    escaped = text.replace("\n", "\\n")
    for written in (escaped, text):
        heard = read(f'Action: write_file\nAction Input: {{"path": "a", "text": "{written}"}}')
        assert heard.calls == [("write_file", {"path": "a", "text": text})]


def test_an_unknown_tool_is_left_to_the_loop():
    assert read('Action: get_wether\nAction Input: {"city": "Rome"}').calls == [("get_wether", {"city": "Rome"})]


def test_a_name_that_is_sent_safely_comes_back_as_the_true_one():
    (tool_line,) = [line for line in WIRE.body["messages"][0]["content"].splitlines() if "calendar" in line]
    sent = tool_line.split('"')[3]
    assert read(f"Action: {sent}\nAction Input: {{}}").calls == [("calendar.create", {})]


@pytest.mark.parametrize(
    "answer",
    [
        "Say it so:\n```\nThought: why\nAction: get_time\nAction Input: {}\n```\nThat is all.",
        "Actions: none.\n\nAction items:\n- one\n\nAction: call the office",
        "Input: 3\nOutput: 4",
        "# Thoughtful\n\n**Note**: <answer> and <tool> are tags.",
        "A list:\n\n  - one\n    - two\n\n| a | b |",
        '{"city": "Rome"}',
        '{"name": "Rome", "size": 3}\nis the data.',
        "`Thought` is a mark",
    ],
)
def test_an_answer_may_speak_of_marks(answer):
    assert (read(f"Final Answer: {answer}").text, read(f"Final Answer: {answer}").calls) == (answer, [])
    if not answer.startswith(("Actions", "Say")):
        assert read(answer).text == answer


def test_an_answer_is_cut_at_an_observation_as_a_server_would():
    heard = read("Final Answer: It is warm.\nObservation: yes")
    assert (heard.text, heard.invented) == ("It is warm.", "yes")


def test_at_a_wrap_up_no_call_is_made():
    wire = asked(ToolProtocol.TEXT, purpose=Purpose.WRAP_UP)
    for text in ("Not finished.", "Final Answer: Not finished.", "Thought: So.\nFinal Answer: Not finished."):
        assert (hear_alike(wire, text).text, hear_alike(wire, text).calls) == ("Not finished.", [])
    with pytest.raises(ModelError):
        hear(wire, ["Action: get_time\nAction Input: {}"])


def test_without_tools_everything_is_plain_text():
    wire = asked(ToolProtocol.TEXT, ())
    assert "stop" not in wire.body and wire.body["messages"][0]["content"] == "You are a helper."
    assert hear_alike(wire, "Thought: x\nAction: y\nObservation: z").text == "Thought: x\nAction: y\nObservation: z"


def test_the_output_limit_ends_an_answer_like_any_other():
    heard = read("Thought: I know.\nFinal Answer: It is", "length")
    assert (heard.text, heard.reply.finish) == ("It is", Finish.LENGTH)
    heard = read("Thought: I thi", "length")
    assert (heard.text, heard.calls, heard.reply.finish) == ("", [], Finish.LENGTH)


@pytest.mark.parametrize("text", ["", "  \n"])
def test_a_reply_that_says_nothing_is_no_answer(text):
    with pytest.raises(ModelError):
        hear(WIRE, [text])
