"""The live policy without a worker around it."""

from agentweb.engine.messages import ToolCall
from agentweb.registry import catalog
from agentweb.registry.policies import LivePolicy


async def at_once(work):
    return work()


def judge(*names: str) -> tuple:
    """The verdicts on calls of these tools."""
    calls = tuple((ToolCall(f"c{n}", name, {}), catalog.tools()[name].spec) for n, name in enumerate(names))
    coroutine = LivePolicy(at_once).judge(calls)
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError("judging waited for something")
