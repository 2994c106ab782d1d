"""The live policy without a worker around it."""

from typing import Any

from agentweb.engine.messages import ToolCall
from agentweb.engine.ports import ToolSpec, Verdict
from agentweb.registry import catalog
from agentweb.registry.policies import LivePolicy


async def at_once(work):
    return work()


def judge(*names: str) -> tuple:
    """The verdicts on calls of these tools."""
    return _verdicts(LivePolicy(at_once), [(name, {}) for name in names])


def judged(
    policy: LivePolicy, name: str, arguments: dict[str, Any], *, spec: ToolSpec | None = None, **call: Any
) -> Verdict:
    """The verdict on one call, by a policy that was made with ``at_once``. ``spec``: of a tool that is not in code."""
    return _verdicts(policy, [(name, arguments)], spec, **call)[0]


def _verdicts(
    policy: LivePolicy, asked: list[tuple[str, dict[str, Any]]], spec: ToolSpec | None = None, **call: Any
) -> tuple[Verdict, ...]:
    calls = tuple(
        (ToolCall(f"c{n}", name, arguments, **call), spec or catalog.tools()[name].spec)
        for n, (name, arguments) in enumerate(asked)
    )
    coroutine = policy.judge(calls)
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("judging waited for something")
