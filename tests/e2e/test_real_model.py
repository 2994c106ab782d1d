"""A real language model behind HTTP: what it says streams into the page and is counted, wise or not."""

import asyncio
import subprocess
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from playwright.sync_api import Page, expect

from agentweb.engine.messages import AssistantMessage, Message, ToolCall, ToolResult, UserMessage
from agentweb.engine.ports import ModelReply, ModelRequest
from agentweb.launch.valkey import free_port
from agentweb.llm.clients import close_clients
from agentweb.llm.config import Capabilities, ModelConfig, Structured, ToolProtocol
from agentweb.llm.native import OpenAIModel
from agentweb.toolbox import catalog
from tests import real_model
from tests.e2e.chat_page import Chat
from tests.e2e.program import Program
from tests.stack import ROOT, Stack
from tests.waiting import until

pytestmark = pytest.mark.realmodel

MOST_TOKENS = 40
ENDLESS_TOKENS = 2_000  # more than anybody waits for
SLOW = 120_000
"""Milliseconds: two busy cores make a few words a second."""

CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}

ADD_AGENT = """
from agentweb.registry.models import Agent, ChatModel
for name, most in (("Brief", {most}), ("Endless", {endless})):
    model = ChatModel.objects.create(
        name=name, base_url={url!r}, model_name={served!r}, body={{"max_tokens": most}}, idle_timeout_s=120
    )
    print(Agent.objects.create(name=name, description="A real model.", model=model, max_turns=2).public_id)
"""


@pytest.fixture(scope="module")
def address(stack: Stack) -> Iterator[str]:
    """Where a real model answers, in a process of its own."""
    port = free_port()
    command = [sys.executable, "-m", "tests.real_model", str(port)]
    log = stack.folder / "real-model.log"
    with log.open("wb") as output:
        server = subprocess.Popen(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT)
    try:
        until(lambda: "listening at" in log.read_text(errors="replace"), 120, "the real model listens")
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        server.wait()


@pytest.fixture(scope="module")
def agents(stack: Stack, address: str) -> list[str]:
    """The ids of two agents with the real model: one says little, one very much."""
    code = ADD_AGENT.format(url=address, served=real_model.MODEL, most=MOST_TOKENS, endless=ENDLESS_TOKENS)
    return stack.manage("shell", "-c", code).stdout.split()[-2:]


@pytest.fixture
def converse(ann: Page, agents: list[str], program: Callable[[str], Program]) -> Callable[[int], Chat]:
    """A new conversation with one of the agents."""
    return lambda number: Chat.open(ann, program("ann").post("/conversations", agent=agents[number])["id"])


def test_a_real_model_streams_into_the_page_is_counted_and_hears_the_whole_conversation(
    converse: Callable[[int], Chat], program: Callable[[str], Program]
):
    chat = converse(0)
    chat.ask("Tell me a short story about a river.")
    busy = chat.page.locator('.message.assistant[aria-busy="true"] .block')
    expect(busy.first, "words are there before the answer is complete").to_be_visible(timeout=SLOW)
    expect(chat.state).to_have_attribute("data-status", "finished", timeout=SLOW)
    run = program("ann").get(f"/runs/{chat.run}")
    assert run["outcome"] == "answered", run
    usage = run["usage"]
    assert usage["model_calls"] == usage["turns"] == 1
    assert usage["input_tokens"] > 5 and 0 < usage["output_tokens"] <= MOST_TOKENS
    expect(chat.totals).to_contain_text(f"{usage['output_tokens']} out")
    assert len(chat.answer.inner_text()) > 20
    chat.expect_same_when_loaded_anew()
    chat.ask("And again, please.")
    expect(chat.state).to_have_attribute("data-status", "finished", timeout=SLOW)
    assert program("ann").get(f"/runs/{chat.run}")["usage"]["input_tokens"] > usage["input_tokens"]


def test_a_real_model_is_cancelled_in_mid_answer(converse: Callable[[int], Chat]):
    chat = converse(1)
    chat.ask("Count slowly from one to one thousand, in words.")
    expect(chat.page.locator('.message.assistant[aria-busy="true"] .block').first).to_be_visible(timeout=SLOW)
    chat.button("Cancel").click()
    chat.expect_finished("Cancelled")
    kept = chat.answer.inner_text()
    assert kept.strip()
    chat.page.reload()
    assert chat.answer.inner_text() == kept


def test_a_real_model_that_was_never_taught_tools_asks_for_one_in_a_json_object(address: str):
    """The server lets it write nothing but the form that is made of the tool's schema; a call before shows it how."""
    weather = catalog.load()["weather"]
    messages = (*looked_up("Rome"), UserMessage("u", "What is the weather in Beijing?"))
    asked = ModelRequest("m", "You look up the weather.", messages, (replace(weather.spec, parameters=CITY),))
    config = ModelConfig(
        "real",
        address,
        real_model.MODEL,
        protocol=ToolProtocol.JSON_ACTION,
        can=Capabilities(structured=Structured.JSON_SCHEMA),
        idle_timeout_s=SLOW / 1000,
        body={"max_tokens": MOST_TOKENS * 2},
    )
    with ThreadPoolExecutor(1) as aside:  # this thread has a loop already, the browser's
        reply = aside.submit(asyncio.run, reply_of(config, asked)).result()
    (call,) = reply.calls
    assert (call.name, call.invalid, reply.text) == ("weather", None, "")
    assert weather.problems(call.arguments) == [] and call.arguments["city"]
    assert reply.thinking and reply.usage.output_tokens > 5


def looked_up(city: str) -> list[Message]:
    call = ToolCall(f"c-{city}", "weather", {"city": city})
    asks = AssistantMessage(f"a-{city}", thinking="I look it up.", calls=(call,))
    told = AssistantMessage(f"b-{city}", f"In {city}: rain, 9 °C.")
    return [UserMessage(f"u-{city}", f"What is the weather in {city}?"), asks, ToolResult(call.id, "rain, 9 °C"), told]


async def reply_of(config: ModelConfig, asked: ModelRequest) -> ModelReply:
    """What the model says at the end of its answer."""
    parts = [part async for part in OpenAIModel(config).prepare(asked).stream()]
    await close_clients()
    assert isinstance(parts[-1], ModelReply)
    return parts[-1]
