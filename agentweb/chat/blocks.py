"""Frames as a page wants them: what its blocks become, in place of the raw text."""

import asyncio
from collections.abc import Callable

from agentweb.render import Incremental
from agentweb.runs import live
from agentweb.runs.live import START, Cursor, Frame

INLINE_CHARACTERS = 8_000


class BlockWriter:
    """One page's view of the open message.

    Workers render only while somebody watches, so the first frames after a page came may hold raw text alone. Then the
    whole text so far is rendered here, and what follows too, until the worker's own blocks come.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._message = ""
        self._renderer: Incremental | None = None
        self._covered: dict[str, Cursor] = {}  # run → the place up to which a snapshot told everything

    async def frames(self, frame: Frame) -> list[Frame]:
        """What to send in place of the frame."""
        if "c" in frame and Cursor.parse(frame["c"]) <= self._covered.get(frame["run"], START):
            return []
        if "snapshot" in frame:
            return [await self._snapshot(frame)]
        texts = [delta[2] for delta in frame.get("deltas", ()) if delta[0] == "text"]
        if not texts:
            return [frame]
        lean = {**frame, "deltas": [delta for delta in frame["deltas"] if delta[0] != "text"]}
        if "ops" in frame:
            self._renderer = None
            return [lean]
        if self._renderer is None or self._message != frame["message"]:
            return await self._look(lean)
        self._renderer.feed("".join(texts))
        lean["ops"] = [op.as_json() for op in self._renderer.ops(self._clock())]
        return [lean]

    async def _look(self, frame: Frame) -> list[Frame]:
        """The open message as a whole. Without one it has ended, and its card comes."""
        opened = await live.snapshot(frame["run"])
        if opened is None or opened.message != frame["message"] or opened.cursor < Cursor.parse(frame["c"]):
            return [frame]
        written = {"message": opened.message, "text": opened.text, "thinking": opened.thinking}
        place = {"run": frame["run"], "c": str(opened.cursor), "p": frame["p"]}
        self._covered[frame["run"]] = opened.cursor
        return [await self._snapshot({**place, "snapshot": written})]

    async def _snapshot(self, frame: Frame) -> Frame:
        written = frame["snapshot"]
        text = written["text"]
        if len(text) > INLINE_CHARACTERS:
            renderer, ops = await asyncio.to_thread(Incremental.resume, text)
        else:
            renderer, ops = Incremental.resume(text)
        self._message, self._renderer = written["message"], renderer
        shown = {"message": written["message"], "thinking": written["thinking"], "ops": [op.as_json() for op in ops]}
        return {**frame, "snapshot": shown}
