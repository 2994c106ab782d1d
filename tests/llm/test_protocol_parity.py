"""Whatever the protocol, the example tasks come to the same calls, the same files and the same answer."""

from dataclasses import replace

import pytest

from agentweb.engine.enums import Purpose
from agentweb.engine.messages import AssistantMessage, ToolCall, ToolResult, UserMessage
from agentweb.llm.clients import close_clients
from agentweb.llm.config import ModelConfig, ToolProtocol
from agentweb.llm.history import validate_history
from agentweb.llm.native import OpenAIModel
from agentweb.llm.protocols.rules import INVENTED
from agentweb.llm.request import build_request
from agentweb.llm.scripted.model import ScriptedModel
from agentweb.llm.scripted.server import serving
from tests.e2e.tasks import TASKS
from tests.llm.acting import Desk, Told, play
from tests.llm.asking import request

OTHERS = [protocol for protocol in ToolProtocol if protocol is not ToolProtocol.NATIVE]
QUESTIONS = {
    f"{name}, {n}": words
    for name, task in TASKS.items()
    for n, words in enumerate((task.english, task.chinese, task.otherwise))
}


async def ask(protocol: ToolProtocol, question: str, **options) -> tuple[Told, Desk]:
    desk = Desk()
    return await play(question, desk, model=ScriptedModel(delay_s=0, protocol=protocol), **options), desk


def done(told: Told, desk: Desk) -> tuple:
    return [name for turn in told.names for name in turn], told.arguments, desk.files, told.answer


@pytest.mark.parametrize("protocol", OTHERS)
@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
async def test_every_example_task_comes_to_the_same(question, protocol):
    told, desk = await ask(protocol, question, max_turns=20)
    assert done(told, desk) == done(*await ask(ToolProtocol.NATIVE, question, max_turns=20))
    assert all(len(turn) == 1 for turn in told.names), "one call a turn"


@pytest.mark.parametrize("protocol", OTHERS)
async def test_at_the_limit_it_sums_up_alike(protocol):
    question = TASKS["turn limit"].english
    told, desk = await ask(protocol, question, max_turns=1)
    assert done(told, desk) == done(*await ask(ToolProtocol.NATIVE, question, max_turns=1))
    assert told.answer.startswith("Not finished")


@pytest.mark.parametrize("protocol", OTHERS)
async def test_broken_arguments_are_asked_for_again(protocol):
    told, _ = await ask(protocol, "Show a call with malformed arguments")
    assert told.names == [["calculator"], ["calculator"]]
    assert told.invalid == 1 and "**42**" in told.answer


@pytest.mark.parametrize("protocol", OTHERS)
async def test_people_are_heard_between_two_calls_of_one_plan(protocol):
    desk = Desk(rejects={"snake.css": "no style"})
    model = ScriptedModel(delay_s=0, protocol=protocol)
    told = await play("Make a snake game", desk, model=model, steering={1: "and make it green"})
    assert set(desk.files) == {"snake.html", "snake.js"}
    assert "no style" in told.answer and "and make it green" in told.answer


@pytest.mark.parametrize("protocol", OTHERS)
async def test_a_run_may_change_its_protocol_between_two_turns(protocol):
    before, desk = await ask(ToolProtocol.NATIVE, TASKS["weather"].english)
    model = ScriptedModel(delay_s=0, protocol=protocol)
    told = await play("What is the date today?", desk, model=model, before=before.messages)
    again = await play("What is 12*7?", desk, before=told.messages)
    assert (told.names, again.names) == ([["current_time"]], [["calculator"]])


@pytest.mark.parametrize("protocol", ToolProtocol)
async def test_the_same_over_http(protocol):
    async with serving() as base_url:
        model = OpenAIModel(ModelConfig("Test", base_url, "scripted", protocol=protocol))
        desk = Desk()
        told = await play(TASKS["weather"].english, desk, model=model)
        await close_clients()
    assert done(told, desk) == done(*await ask(ToolProtocol.NATIVE, TASKS["weather"].english))


# --- the history in the form of a protocol ----------------------------------------------------------------------------

READ = ToolCall("c1", "current_time", {}, "{}")
LOOK = ToolCall("c2", "weather", {"city": "Rome"}, '{"city": "Rome"}')


def sent(protocol: ToolProtocol, *messages, **settings) -> list[tuple[str, str]]:
    config = ModelConfig("Test", "http://127.0.0.1:1/v1", "m", protocol=protocol, **settings)
    body = build_request(config, request(messages, Desk().specs)).body
    assert validate_history(body["messages"], strict_roles=config.strict_roles) == []
    return [(message["role"], message["content"]) for message in body["messages"][1:]]


HISTORY = (
    UserMessage("u1", "And?"),
    AssistantMessage("a1", "So.", "I look.", (READ, LOOK)),
    ToolResult("c2", "26 °C"),
    UserMessage("u2", "quick"),
    ToolResult("c1", "10:20"),
    AssistantMessage("a2", "It is warm."),
    UserMessage("u3", "Thanks"),
)


def test_calls_and_results_are_lines_of_text():
    assert sent(ToolProtocol.TEXT, *HISTORY) == [
        ("user", "And?"),
        ("assistant", "Thought: I look. So.\nAction: current_time\nAction Input: {}"),
        ("user", "Observation: 10:20"),
        ("assistant", 'Action: weather\nAction Input: {"city": "Rome"}'),
        ("user", "Observation: 26 °C"),
        ("user", "quick"),
        ("assistant", "Final Answer: It is warm."),
        ("user", "Thanks"),
    ]


def test_calls_and_results_are_json_objects():
    assert sent(ToolProtocol.JSON_ACTION, *HISTORY) == [
        ("user", "And?"),
        ("assistant", '{"thought":"I look. So.","step":"CALL_TOOL","tool_name":"current_time","arguments":{}}'),
        ("user", "Result of current_time:\n10:20"),
        ("assistant", '{"thought":"","step":"CALL_TOOL","tool_name":"weather","arguments":{"city": "Rome"}}'),
        ("user", "Result of weather:\n26 °C"),
        ("user", "quick"),
        ("assistant", '{"thought":"","step":"FINISH","final_answer":"It is warm."}'),
        ("user", "Thanks"),
    ]


@pytest.mark.parametrize("protocol", OTHERS)
def test_roles_alternate_where_they_must(protocol):
    roles = [role for role, _ in sent(protocol, *HISTORY, strict_roles=True)]
    assert roles == ["user", "assistant", "user", "assistant", "user", "assistant", "user"]


@pytest.mark.parametrize("protocol", OTHERS)
def test_a_model_is_told_that_what_it_invented_does_not_count(protocol):
    invented = AssistantMessage("a1", "", "I look.", (READ,), extra={"invented": {"text": "9:00", "length": 4}})
    *_, (role, last) = sent(protocol, UserMessage("u1", "And?"), invented, ToolResult("c1", "10:20"))
    assert role == "user" and "10:20" in last and last.endswith(INVENTED)
    assert INVENTED not in str(
        sent(ToolProtocol.NATIVE, UserMessage("u1", "And?"), invented, ToolResult("c1", "10:20"))
    )


@pytest.mark.parametrize("protocol", OTHERS)
def test_the_tools_are_told_in_the_prompt_and_nowhere_else(protocol):
    config = ModelConfig("Test", "http://127.0.0.1:1/v1", "m", protocol=protocol)
    for purpose in (Purpose.TURN, Purpose.WRAP_UP):
        body = build_request(config, request("Hi", Desk().specs, purpose=purpose)).body
        assert "tools" not in body and "tool_choice" not in body
        assert '{"name":"weather","description":"The tool weather."' in body["messages"][0]["content"]
    assert ("stop" in body) is (protocol is ToolProtocol.TEXT)


@pytest.mark.parametrize("protocol", OTHERS)
def test_a_summary_is_asked_for_in_plain_words(protocol):
    config = ModelConfig("Test", "http://127.0.0.1:1/v1", "m", protocol=protocol)
    native = replace(config, protocol=ToolProtocol.NATIVE)
    asked = request("User Ann: hello", system="Sum up.", purpose=Purpose.FOLD)
    assert build_request(config, asked).body == build_request(native, asked).body
