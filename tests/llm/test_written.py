"""A request that takes over what the one before had written is the same, byte by byte, as one that is written anew."""

import json
from collections.abc import Callable
from dataclasses import replace

import pytest

from agentweb.engine.enums import Purpose
from agentweb.engine.messages import AssistantMessage, Message, ToolCall, ToolResult, UserMessage
from agentweb.engine.ports import ModelRequest, ToolSpec
from agentweb.llm.config import ModelConfig, ToolProtocol
from agentweb.llm.request import WireRequest, build_request
from agentweb.llm.written import Written

SPEC = ToolSpec("look.up", "Look up", "Looks something up.", {"type": "object"})
QUESTION = UserMessage("u", "What is it?", "Ann")
CONFIG = ModelConfig(name="m", base_url="http://127.0.0.1/v1", model="m", api_key="")


def turns(count: int) -> tuple[Message, ...]:
    said: list[Message] = [QUESTION]
    for number in range(count):
        call = ToolCall(f"id-{number}", "look.up", {"q": f"ä {number}"}, provider_id=f"call_{number}")
        said += [
            AssistantMessage(f"m-{number}", f"I look. {number}", "", (call,)),
            ToolResult(call.id, f"found {number}"),
        ]
    return tuple(said)


def asking(*messages: Message, specs: tuple[ToolSpec, ...] = (SPEC,), purpose: Purpose = Purpose.TURN) -> ModelRequest:
    return ModelRequest("next", "Be short.", messages, specs, purpose)


SAID = turns(4)
CHANGES: dict[str, Callable[[], ModelRequest]] = {
    "nothing": lambda: asking(*SAID),
    "a turn more": lambda: asking(*SAID, *turns(5)[len(SAID) :]),
    "a result": lambda: asking(*SAID[:2], ToolResult("id-0", "another"), *SAID[3:]),
    "a message": lambda: asking(QUESTION, replace(SAID[1], text="Anew."), *SAID[2:]),
    "a second speaker": lambda: asking(*SAID, UserMessage("u2", "And this?", "Ben")),
    "the tools": lambda: asking(*SAID, specs=()),
    "the beginning is gone": lambda: asking(*SAID[3:]),
    "a call before with the same id": lambda: asking(*SAID[7:], *SAID[1:]),
    "the last call": lambda: asking(*SAID, purpose=Purpose.WRAP_UP),
}


@pytest.mark.parametrize("protocol", ToolProtocol)
@pytest.mark.parametrize("strict_roles", [False, True])
@pytest.mark.parametrize("change", CHANGES)
def test_what_was_written_before_makes_no_difference(change: str, strict_roles: bool, protocol: ToolProtocol) -> None:
    config = replace(CONFIG, strict_roles=strict_roles, protocol=protocol)
    written, request = Written(), CHANGES[change]()
    build_request(config, asking(*SAID), written)

    again, anew = build_request(config, request, written), build_request(config, request)

    assert again.content == anew.content and again.digest == anew.digest
    assert json.loads(again.content) == again.body == anew.body


def test_fields_of_the_model_win_also_over_the_messages() -> None:
    said: list[dict[str, str]] = [{"role": "user", "content": "Only this."}]
    for messages in (said, "no list at all"):
        config = replace(CONFIG, body={"messages": messages})
        assert json.loads(build_request(config, asking(*SAID)).content)["messages"] == messages


def test_a_message_is_written_once_and_forgotten_when_no_request_holds_it() -> None:
    written = Written()

    def first_of(request: WireRequest) -> dict[str, object]:
        return request.body["messages"][1]

    first = first_of(build_request(CONFIG, asking(*SAID), written))
    assert first_of(build_request(CONFIG, asking(*SAID), written)) is first
    build_request(CONFIG, asking(*SAID[3:]), written)
    assert first_of(build_request(CONFIG, asking(*SAID), written)) is not first
