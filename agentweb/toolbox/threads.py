"""A bounded pool of threads for tools that are plain functions."""

import asyncio
import contextvars
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

SIZE_VARIABLE = "TOOL_THREADS"
DEFAULT_SIZE = 16


class Threads:
    """Runs at most ``size`` functions at a time; others wait for their turn."""

    def __init__(self, size: int) -> None:
        if size < 1:
            raise ValueError("A pool needs at least one thread.")
        self.size = size
        self._pool = ThreadPoolExecutor(max_workers=size, thread_name_prefix="tool")

    async def run(self, function: Callable[[], Any]) -> Any:
        """The function's result. Cancelling takes it out of the queue, but cannot end a function that has begun."""
        context = contextvars.copy_context()
        return await asyncio.wrap_future(self._pool.submit(context.run, _guarded, function))

    def close(self) -> None:
        """Drop what waits, and wait for what runs."""
        self._pool.shutdown(wait=True, cancel_futures=True)


def _guarded(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except StopIteration as error:  # a future cannot carry this one: whoever awaits it would wait forever
        raise RuntimeError("A tool raised StopIteration.") from error


@cache
def shared_threads() -> Threads:
    """The process's own pool; its size is TOOL_THREADS from the environment, or 16."""
    text = os.environ.get(SIZE_VARIABLE) or str(DEFAULT_SIZE)
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{SIZE_VARIABLE} must be a whole number of at least 1, not {text!r}.")
    return Threads(int(text))
