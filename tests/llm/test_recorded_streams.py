"""What real providers send, over real HTTP: each recording is read right, however its bytes are cut."""

import itertools
import re
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentweb.engine.messages import AssistantMessage, Message, ToolResult, UserMessage
from agentweb.llm.clients import close_clients
from tests.llm.asking import Outcome, ask, model, request, spec
from tests.llm.fake_provider import Frame, serve, split_answers
from tests.llm.recorded_cases import CASES, PLAIN, body_of, check

TIME_SCALE = 0.05


@pytest.fixture(autouse=True)
async def _connections_closed():
    yield
    await close_clients()


async def _play(case: dict[str, Any], frames: list[Frame]) -> tuple[Outcome, Any, list[float]]:
    """Ask like the loop does: once more, after the wait, where the error says that it may help."""
    tools = [spec(tool["name"], tool["parameters"]) for tool in case["tools"]]
    idle = case.get("settings", {}).get("idle_timeout_s")
    scale = TIME_SCALE if idle else 1.0
    async with serve(*split_answers(frames), time_scale=scale) as provider:
        asked = model(provider.base_url, idle_timeout_s=idle * scale if idle else 30.0, connect_timeout_s=30.0)
        outcome = await ask(asked, request("Question", tools))
        waits = []
        for _ in range(case["expect"].get("requests", 1) - 1):
            assert outcome.error and outcome.error.retryable
            waits.append(outcome.error.retry_after_s or 0.0)
            outcome = await ask(asked, request("Question", tools))
        if case["expect"].get("next_request"):
            assert outcome.reply
            await ask(asked, request(_after(outcome), tools))
        return outcome, provider, waits


def _after(outcome: Outcome) -> list[Message]:
    reply = outcome.reply
    assert reply
    answer = AssistantMessage("m1", reply.text, reply.thinking, reply.calls, reply.finish, reply.extra)
    results = [ToolResult(call.id, "a result") for call in reply.calls]
    return [UserMessage("u1", "Question", "Ann"), answer, *results]


def _at(value: Any, path: str) -> Any:
    for name, index in re.findall(r"(\w+)|\[(-?\d+)\]", path):
        value = value[name] if name else value[int(index)]
    return value


@pytest.mark.parametrize("name", CASES)
async def test_a_recorded_stream_is_read_right(name):
    case = CASES[name]
    outcome, provider, waits = await _play(case, case["frames"])
    check(case, outcome)
    assert sum(waits) >= case["expect"].get("min_wait_s", 0)
    for wanted in case["expect"].get("next_request", ()):
        assert _at(provider.requests[-1], wanted["path"]) == wanted["equals"]


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(PLAIN),
    line_end=st.sampled_from(["\n", "\r\n", "\r"]),
    cuts=st.lists(st.integers(0, 3000), max_size=30),
    comments=st.booleans(),
)
async def test_cuts_line_ends_and_comments_change_nothing(name, line_end, cuts, comments):
    case = CASES[name]
    body = body_of(case)
    if comments:
        body = body.replace(b"\n\ndata", b"\n\n: keep-alive\n\nevent: message\n\ndata")
    body = body.replace(b"\n", line_end.encode())
    edges = sorted({0, len(body), *(cut for cut in cuts if cut < len(body))})
    outcome, _, _ = await _play(case, [body[a:b] for a, b in itertools.pairwise(edges)])
    check(case, outcome)


async def test_waiting_time_is_read_from_a_date_too():
    refusal = {"status": 429, "headers": {"retry-after": "{{http_date:+20}}"}, "body": '{"error": "slow down"}'}
    async with serve([refusal]) as provider:
        outcome = await ask(model(provider.base_url), request())
    assert outcome.error and outcome.error.retry_after_s is not None
    assert 15 < outcome.error.retry_after_s <= 20
