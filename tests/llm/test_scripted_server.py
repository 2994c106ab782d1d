"""The scripted model behind HTTP is an OpenAI-compatible endpoint like any other."""

import asyncio
import signal
import sys

import pytest
from openai import AsyncOpenAI, BadRequestError

from agentweb.llm.clients import close_clients
from agentweb.llm.scripted.model import ScriptedModel
from agentweb.llm.scripted.server import serving
from tests.llm.acting import Desk, play
from tests.llm.asking import ask, model, request


@pytest.fixture(autouse=True)
async def _connections_closed():
    yield
    await close_clients()


QUESTIONS = [
    "What is the date today?",
    "Compare today's weather in Beijing and Shenzhen for outdoor activity",
    "写一个贪吃蛇游戏",
    "Find the unused dependencies of the project and remove them",
]


@pytest.mark.parametrize("question", QUESTIONS)
async def test_a_task_goes_the_same_way_over_http(question):
    async with serving() as url:
        far, near = Desk(), Desk()
        over_http = await play(question, far, model=model(url, temperature=None))
        within = await play(question, near, model=ScriptedModel(delay_s=0))
    assert (over_http.names, over_http.answer) == (within.names, within.answer)
    assert far.files == near.files


async def test_other_clients_can_talk_to_it():
    async with serving() as url, AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:
        assert [one.id async for one in client.models.list()] == ["scripted"]
        asked = {"model": "scripted", "messages": [{"role": "user", "content": "What is 12*7?"}]}
        tools = [{"type": "function", "function": {"name": "calculator", "parameters": {"type": "object"}}}]
        whole = await client.chat.completions.create(**asked, tools=tools)
        (call,) = whole.choices[0].message.tool_calls
        assert (call.function.name, call.function.arguments) == ("calculator", '{"expression": "12*7"}')
        pieces = [chunk async for chunk in await client.chat.completions.create(**asked, stream=True)]
        assert "`calculator`" in "".join(c.choices[0].delta.content or "" for c in pieces if c.choices)
        assert whole.usage.completion_tokens and pieces[-1].usage.completion_tokens
        for messages in ([], ["text"], [{"content": "x"}]):
            with pytest.raises(BadRequestError):
                await client.chat.completions.create(model="scripted", messages=messages)


async def test_it_streams_at_the_pace_that_was_asked_for():
    began = asyncio.get_running_loop().time()
    async with serving(delay_s=0.01) as url:
        outcome = await ask(model(url), request("hello"))
    assert len(outcome.deltas) > 40
    assert asyncio.get_running_loop().time() - began > 0.01 * len(outcome.deltas) * 0.5


async def test_the_command_serves_until_it_is_told_to_stop():
    server = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "agentweb.llm.scripted.server",
        "--port",
        "0",
        "--delay",
        "0",
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        url = (await asyncio.wait_for(server.stdout.readline(), 30)).decode().strip()
        outcome = await ask(model(url), request("What can you do?"))
        assert "not an AI" in outcome.text
        server.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(server.wait(), 10) == 0
    finally:
        if server.returncode is None:
            server.kill()
            await server.wait()
