"""The live policy without a worker around it."""

from typing import Any

from agentweb.engine.messages import ToolCall
from agentweb.registry import catalog
from agentweb.registry.policies import LivePolicy


async def at_once(work):
    return work()


def judge(*names: str) -> tuple:
    """The verdicts on calls of these tools."""
    return _verdicts(LivePolicy(at_once), [(name, {}) for name in names])


def judged(policy: LivePolicy, name: str, arguments: dict[str, Any], **call: Any):
    """The verdict on one call, by a policy that was made with ``at_once``."""
    return _verdicts(policy, [(name, arguments)], **call)[0]


def _verdicts(policy: LivePolicy, asked: list[tuple[str, dict[str, Any]]], **call: Any) -> tuple:
    calls = tuple(
        (ToolCall(f"c{n}", name, arguments, **call), catalog.tools()[name].spec)
        for n, (name, arguments) in enumerate(asked)
    )
    coroutine = policy.judge(calls)
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("judging waited for something")
