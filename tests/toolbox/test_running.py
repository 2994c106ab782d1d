"""A tool runs in a thread or in the loop, gives its progress and one result, and learns that it was cancelled."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest

from agentweb.engine.ports import Output, Progress, ToolContext, ToolError, ToolSuspension
from agentweb.toolbox.threads import SIZE_VARIABLE, Threads, shared_threads
from agentweb.toolbox.tool import FunctionTool, tool
from tests.toolbox.calling import context_in, run, steps_of


def with_defaults(function: Callable[..., Any]) -> FunctionTool:
    return tool(label="Test")(function)


def test_a_plain_function_runs_in_a_thread_of_the_pool_with_the_callers_context_variables(tmp_path: Path) -> None:
    trace: ContextVar[str] = ContextVar("trace", default="none")

    def work() -> list[str]:
        """Work."""
        return [threading.current_thread().name, trace.get()]

    trace.set("mine")
    text = run(with_defaults(work), {}, context_in(tmp_path))
    assert '"tool_' in text
    assert '"mine"' in text


def test_an_async_function_runs_in_the_loop(tmp_path: Path) -> None:
    async def work(context: ToolContext) -> dict[str, str]:
        """Work."""
        await asyncio.sleep(0)
        return {"call": context.call, "thread": threading.current_thread().name}

    text = run(with_defaults(work), {}, context_in(tmp_path))
    assert text == f'{{"call": "call-1", "thread": "{threading.current_thread().name}"}}'


def test_an_async_generator_gives_progress_and_then_its_result(tmp_path: Path) -> None:
    async def work(n: int) -> AsyncIterator[Progress | str]:
        """Work."""
        for done in range(n):
            yield Progress(f"step {done}", done / n)
        yield "done"

    steps = asyncio.run(steps_of(with_defaults(work), {"n": 2}, context_in(tmp_path)))
    assert steps == [Progress("step 0", 0.0), Progress("step 1", 0.5), Output("done")]


@pytest.mark.parametrize("kind", ["plain", "async", "generator"])
@pytest.mark.parametrize("error", [ToolError("No such thing."), ToolSuspension("Which one?"), KeyError("bug")])
def test_what_a_tool_raises_reaches_the_caller(tmp_path: Path, kind: str, error: Exception) -> None:
    def plain() -> str:
        """Work."""
        raise error

    async def later() -> str:
        """Work."""
        raise error

    async def generator() -> AsyncIterator[str]:
        """Work."""
        raise error
        yield ""

    made = with_defaults({"plain": plain, "async": later, "generator": generator}[kind])
    with pytest.raises(type(error)) as raised:
        run(made, {}, context_in(tmp_path))
    assert raised.value is error


@pytest.mark.parametrize("schema", [{"type": "string"}, {"type": "object", "properties": []}, {}])
def test_a_tool_that_waits_for_an_answer_that_no_form_can_ask_for_fails_at_once(
    tmp_path: Path, schema: dict[str, Any]
) -> None:
    async def work() -> str:
        """Work."""
        raise ToolSuspension("Which one?", schema)

    with pytest.raises(TypeError, match="none of an object"):
        run(with_defaults(work), {}, context_in(tmp_path))


def test_the_text_of_an_error_is_as_short_and_as_visible_as_a_result(tmp_path: Path) -> None:
    async def work() -> str:
        """Work."""
        raise ToolError("no\u200b" + "x" * 30_000)

    with pytest.raises(ToolError) as raised:
        run(with_defaults(work), {}, context_in(tmp_path))
    assert str(raised.value).startswith("no<U+200B>x")
    assert len(str(raised.value)) < 20_200


def test_a_stop_iteration_in_a_thread_does_not_hang_the_caller(tmp_path: Path) -> None:
    def work() -> str:
        """Work."""
        raise StopIteration

    with pytest.raises(RuntimeError, match="StopIteration"):
        run(with_defaults(work), {}, context_in(tmp_path))


async def nothing() -> AsyncIterator[Progress]:
    """Work."""
    yield Progress("only this")


async def twice() -> AsyncIterator[str]:
    """Work."""
    yield "one"
    yield "two"


async def late() -> AsyncIterator[str | Progress]:
    """Work."""
    yield "one"
    yield Progress("late")


@pytest.mark.parametrize(
    ("function", "words"), [(nothing, "without a result"), (twice, "after its"), (late, "after its")]
)
def test_an_async_generator_must_end_with_one_result(tmp_path: Path, function: Callable[..., Any], words: str) -> None:
    with pytest.raises(RuntimeError, match=words):
        run(with_defaults(function), {}, context_in(tmp_path))


def test_a_plain_function_learns_that_it_was_cancelled(tmp_path: Path) -> None:
    began, ended = threading.Event(), threading.Event()

    def work(context: ToolContext) -> str:
        """Work."""
        began.set()
        while not context.cancelled():
            threading.Event().wait(0.001)
        ended.set()
        return "stopped early"

    async def cancel() -> None:
        call = asyncio.create_task(steps_of(with_defaults(work), {}, context_in(tmp_path)))
        await asyncio.to_thread(began.wait, 30)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    asyncio.run(cancel())
    assert ended.wait(30)


def test_a_plain_function_sees_the_cancel_flag_of_the_run(tmp_path: Path) -> None:
    flag = threading.Event()

    def work(context: ToolContext) -> list[bool]:
        """Work."""
        before = context.cancelled()
        flag.set()
        return [before, context.cancelled()]

    assert run(with_defaults(work), {}, context_in(tmp_path, flag.is_set)) == "[false, true]"


def test_closing_a_tool_closes_its_generator(tmp_path: Path) -> None:
    closed = []

    async def work(context: ToolContext) -> AsyncIterator[Progress | str]:
        """Work."""
        try:
            yield Progress("begun")
            yield "done"
        finally:
            closed.append(context.cancelled())

    async def leave() -> None:
        steps = with_defaults(work).execute({}, context_in(tmp_path))
        assert await anext(steps) == Progress("begun")
        await steps.aclose()  # type: ignore[attr-defined]

    asyncio.run(leave())
    assert len(closed) == 1


def test_no_more_functions_run_at_once_than_the_pool_has_threads() -> None:
    running, most, lock = 0, 0, threading.Lock()
    threads = Threads(2)

    def work() -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        threading.Event().wait(0.002)
        with lock:
            running -= 1

    async def many() -> None:
        await asyncio.gather(*(threads.run(work) for _ in range(20)))

    asyncio.run(many())
    threads.close()
    assert most == 2


def test_a_cancelled_call_that_waits_for_a_thread_never_runs() -> None:
    threads, free, ran = Threads(1), threading.Event(), []

    async def wait() -> None:
        first = asyncio.create_task(threads.run(lambda: free.wait(30)))
        second = asyncio.create_task(threads.run(lambda: ran.append(True)))
        await asyncio.sleep(0)
        second.cancel()
        with pytest.raises(asyncio.CancelledError):
            await second
        free.set()
        await first

    asyncio.run(wait())
    threads.close()
    assert ran == []


def test_the_size_of_the_pool_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    fresh = shared_threads.__wrapped__
    monkeypatch.delenv(SIZE_VARIABLE, raising=False)
    assert fresh().size == 16
    for value, size in (("3", 3), ("", 16)):
        monkeypatch.setenv(SIZE_VARIABLE, value)
        assert fresh().size == size
    for wrong in ("0", "-1", "many"):
        monkeypatch.setenv(SIZE_VARIABLE, wrong)
        with pytest.raises(ValueError, match="TOOL_THREADS must be a whole number"):
            fresh()
