"""Thinking is asked for always, never, or for tasks that look complex; who leaves it to the server sends nothing."""

import pytest

from agentweb.engine.enums import NoteKind, Purpose, ResultKind
from agentweb.engine.messages import AssistantMessage, ToolCall, ToolResult, UserMessage
from agentweb.llm.config import ConfigError, ModelConfig, Thinking, ToolProtocol
from agentweb.llm.request import build_request
from agentweb.llm.thinking import MANY_RESULTS, is_complex
from tests.llm.asking import request

SIMPLE, HARD = "What is the date today?", "Compare the two plans and tell me which is better."


def effort(text: str, purpose: Purpose = Purpose.TURN, **settings: object) -> object:
    config = ModelConfig("m", "http://127.0.0.1:1/v1", "m", **settings)
    return build_request(config, request(text, purpose=purpose)).body.get("reasoning_effort")


@pytest.mark.parametrize(
    ("thinking", "simple", "hard"),
    [
        (Thinking.AS_IT_DOES, None, None),
        (Thinking.ALWAYS, "medium", "medium"),
        (Thinking.NEVER, "none", "none"),
        (Thinking.COMPLEX, "none", "medium"),
    ],
)
@pytest.mark.parametrize("protocol", ToolProtocol)
def test_what_is_asked_for_depends_on_the_setting_and_the_task(thinking, simple, hard, protocol):
    settings = {"thinking": thinking, "protocol": protocol}
    assert (effort(SIMPLE, **settings), effort(HARD, **settings)) == (simple, hard)


@pytest.mark.parametrize("purpose", [Purpose.WRAP_UP, Purpose.FOLD])
def test_a_summary_is_no_complex_task(purpose):
    assert effort(HARD, purpose, thinking=Thinking.COMPLEX) == "none"
    assert effort(HARD, purpose, thinking=Thinking.ALWAYS) == "medium"


def test_servers_that_want_other_fields_get_those_and_the_body_wins():
    off = {"chat_template_kwargs": {"enable_thinking": False}}
    config = ModelConfig("m", "http://127.0.0.1:1/v1", "m", thinking=Thinking.NEVER, thinking_off=off)
    body = build_request(config, request(SIMPLE)).body
    assert body["chat_template_kwargs"] == {"enable_thinking": False} and "reasoning_effort" not in body
    assert effort(SIMPLE, thinking=Thinking.NEVER, body={"reasoning_effort": "low"}) == "low"


@pytest.mark.parametrize(
    ("text", "complex_"),
    [
        ("hello", False),
        ("今天是几号？", False),
        ("Write a file a.txt with the word hello", False),
        ("Why does the build fail?", True),
        ("比较今天北京和深圳的天气", True),
        ("为什么构建失败了", True),
        ("Do this:\n- read a\n- change b\n- delete c", True),
        ("What is a? What is b? What is c?", True),
        ("word " * 100, True),
        ("请把这份材料整理好" * 16, True),
    ],
)
def test_a_task_is_judged_by_its_length_its_parts_and_its_words(text, complex_):
    assert is_complex([UserMessage("u", text)]) is complex_


def test_a_task_that_went_wrong_or_takes_many_calls_is_complex():
    def after(*kinds: ResultKind):
        calls = tuple(ToolCall(f"c{n}", "look", {}) for n in range(len(kinds)))
        results = [ToolResult(f"c{n}", "x", kind) for n, kind in enumerate(kinds)]
        return [UserMessage("u", "hello"), AssistantMessage("a", calls=calls), *results]

    assert not is_complex(after(ResultKind.OK))
    assert is_complex(after(ResultKind.OK, ResultKind.ERROR))
    assert is_complex(after(*[ResultKind.OK] * MANY_RESULTS))
    assert not is_complex([*after(ResultKind.ERROR), UserMessage("u2", "thanks")]), "an older task does not count"
    assert is_complex([*after(ResultKind.ERROR), UserMessage("n", "Put it right.", about=NoteKind.GOALS)])


def test_an_unknown_setting_is_named():
    with pytest.raises(ConfigError, match="thinking must be one of always, never, complex"):
        ModelConfig.from_snapshot({"thinking": "sometimes"})
