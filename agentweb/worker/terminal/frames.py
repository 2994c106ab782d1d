"""What a run shows while it works, for code that is not async."""

import asyncio
from typing import Self

from agentweb.runs import live
from agentweb.runs.live import Frame
from agentweb.runs.live.connections import close_connections


class Frames:
    """The frames of one run from its beginning. A context manager; interrupting a wait loses nothing."""

    def __init__(self, run: str, conversation: str) -> None:
        self._run, self._conversation = run, conversation
        self._runner = asyncio.Runner()
        self._waiting: asyncio.Task[Frame | None] | None = None
        self.ended = False

    def __enter__(self) -> Self:
        self._frames = live.follow(self._run, self._conversation)
        return self

    def __exit__(self, *_: object) -> None:
        self._runner.run(self._close())
        self._runner.close()

    def next(self, patience_s: float) -> Frame | None:
        """The next frame; None when none came in time, or after the last one, and then ``ended`` is set."""
        return None if self.ended else self._runner.run(self._next(patience_s))

    async def _next(self, patience_s: float) -> Frame | None:
        if self._waiting is None:
            self._waiting = asyncio.create_task(self._pull())
        await asyncio.wait({self._waiting}, timeout=patience_s)
        if not self._waiting.done():
            return None
        frame, self._waiting = self._waiting.result(), None
        self.ended = frame is None
        return frame

    async def _pull(self) -> Frame | None:
        return await anext(self._frames, None)

    async def _close(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            await asyncio.gather(self._waiting, return_exceptions=True)
        await self._frames.aclose()
        await live.hub().close()
        await close_connections()
