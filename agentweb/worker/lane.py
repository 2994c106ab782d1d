"""What one run has to show that Redis does not have yet."""

import asyncio
from dataclasses import dataclass
from typing import Any

from agentweb.engine.enums import DeltaKind
from agentweb.engine.events import Delta, ToolProgressed
from agentweb.render import Incremental, Op
from agentweb.runs.live import keys, publish

INLINE_CHARACTERS = 8_000  # a longer stretch that nobody watched is rendered in a thread
RENDER_TAIL_S = 1.2  # after the last words the renderer may still owe the open block


class Growing:
    """A text that is sent piece by piece. ``sent_points`` counts code points, ``sent_bytes`` UTF-8 bytes."""

    def __init__(self) -> None:
        self._sent: list[str] = []
        self._waiting: list[str] = []
        self.sent_points = 0
        self.sent_bytes = 0

    def add(self, text: str) -> None:
        self._waiting.append(text)

    @property
    def waits(self) -> bool:
        return bool(self._waiting)

    def piece(self) -> str:
        """What waits, as one string."""
        self._waiting = ["".join(self._waiting)] if self._waiting else []
        return self._waiting[0] if self._waiting else ""

    def whole(self) -> str:
        return "".join([*self._sent, *self._waiting])

    def acknowledge(self, piece: str) -> None:
        """Redis has ``piece`` now; what came meanwhile still waits."""
        if not piece:
            return
        rest = self.piece()[len(piece) :]
        self._waiting = [rest] if rest else []
        self._sent.append(piece)
        self.sent_points += len(piece)
        self.sent_bytes += len(encoded(piece))


def encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


class Rendering:
    """The open message's blocks, rendered only while somebody watches and caught up when somebody comes."""

    def __init__(self) -> None:
        self._renderer = Incremental()
        self._waiting: list[str] = []
        self._catching_up: asyncio.Task[tuple[Op, ...]] | None = None

    def add(self, text: str) -> None:
        self._waiting.append(text)

    def ops(self, now: float, final: bool) -> list[list[object]] | None:
        """What browsers must do since the last call; None while a long stretch is rendered elsewhere."""
        if self._catching_up is not None:
            if not self._catching_up.done():
                return None
            found, self._catching_up = list(self._catching_up.result()), None
        else:
            found = []
        backlog = "".join(self._waiting)
        self._waiting.clear()
        if len(backlog) > INLINE_CHARACTERS:
            self._catching_up = asyncio.create_task(asyncio.to_thread(self._feed, backlog, now))
            return [op.as_json() for op in found] or None
        found += self._feed(backlog, now)
        if final:
            found += self._renderer.finish()
        return [op.as_json() for op in found]

    def _feed(self, text: str, now: float) -> tuple[Op, ...]:
        if text:
            self._renderer.feed(text)
        return self._renderer.ops(now)


@dataclass(frozen=True, slots=True)
class Shipment:
    """One frame on its way, and what of the lane it holds. ``written``: the text that ``text`` is a piece of.

    ``event``: the last one that the lane knew, behind which the frame belongs."""

    lane: "Lane"
    event: int
    arguments: tuple[Any, ...]
    written: Growing
    text: str
    thinking: str
    progress: dict[str, ToolProgressed]


class Lane:
    """One run that this process advances. ``event`` is the number of the last event it journaled."""

    def __init__(self, run: str, conversation: str, event: int, epoch: int, phase: float) -> None:
        self.run, self.conversation, self.epoch = run, conversation, epoch
        self.event = event
        self.phase = phase  # where in the window this lane sends, from 0 to 1
        self.due = float("inf")
        self.sent_at = float("-inf")
        self.wanted_at = float("inf")  # when whoever feeds the lane was told to come with more
        self.listeners = 1  # until the first answer tells
        self.muted = False
        self.settled = asyncio.Event()
        self.settled.set()
        self._progress: dict[str, ToolProgressed] = {}
        self._begin("")

    def _begin(self, message: str) -> None:
        self.message = message
        self._text, self._thinking = Growing(), Growing()
        self._rendering: Rendering | None = Rendering()
        self._spoke_at = float("-inf")
        self._whole = False
        self._final = False

    def add(self, step: Delta | ToolProgressed, now: float) -> None:
        if self.muted:
            return
        if isinstance(step, ToolProgressed):
            self._progress[step.call] = step
        else:
            if step.message != self.message:
                self._begin(step.message)
            if step.kind is DeltaKind.TEXT:
                self._text.add(step.text)
                self._spoke_at = now
                if self._rendering is not None:
                    self._rendering.add(step.text)
            else:
                self._thinking.add(step.text)
        self.settled.clear()

    def moved(self, event: int, *, closed: bool) -> None:
        """Events up to this number are recorded and published. ``closed``: the open message is among them."""
        self.event = event
        if closed or self.muted:
            self._begin("")
        self.muted = False

    def finish(self) -> None:
        """The open message is complete: what is sent next holds its blocks in their last form."""
        self._final = bool(self.message)

    @property
    def waits(self) -> bool:
        return self._text.waits or self._thinking.waits or bool(self._progress)

    def owes_blocks(self, now: float) -> bool:
        """Words were sent whose block may still have to be rendered again."""
        return self.listeners > 0 and now - self._spoke_at < RENDER_TAIL_S

    def ship(self, now: float) -> Shipment | None:
        """The next frame, or None when there is nothing to say."""
        text, thinking, progress = self._text.piece(), self._thinking.piece(), dict(self._progress)
        ops = self._render().ops(now, self._final) if self.listeners and self.message else None
        if not (text or thinking or progress or ops):
            return None
        frame = self._frame(text, thinking, progress, ops)
        return Shipment(self, self.event, self._arguments(frame, text, thinking), self._text, text, thinking, progress)

    def arrived(self, shipment: Shipment, listeners: int) -> None:
        """Redis has the frame. By then another message may have begun, which the frame says nothing about."""
        if shipment.written is self._text:
            self._text.acknowledge(shipment.text)
            self._thinking.acknowledge(shipment.thinking)
            self._whole = False
        for call, note in shipment.progress.items():
            if self._progress.get(call) is note:
                del self._progress[call]
        self.listeners = listeners
        self._settle()

    def lost(self, *, whole: bool) -> None:
        """The frame did not get there. Its text waits on; its blocks are rendered anew, for nobody has seen them."""
        self._whole = self._whole or whole
        self._rendering = None

    def mute(self) -> None:
        """Show nothing before the next event: the run is further than this lane, or rendering has failed."""
        self.muted = True
        self._progress.clear()
        self._begin("")
        self._settle()

    def _settle(self) -> None:
        if not self.waits:
            self.settled.set()

    def _render(self) -> Rendering:
        if self._rendering is None:
            self._rendering = Rendering()
            self._rendering.add(self._text.whole())
        return self._rendering

    def _frame(
        self, text: str, thinking: str, progress: dict[str, ToolProgressed], ops: list[list[object]] | None
    ) -> dict[str, Any]:
        frame: dict[str, Any] = {"run": self.run, "epoch": self.epoch}
        if text or thinking or ops:
            frame["message"] = self.message
        deltas: list[list[object]] = []
        if thinking:
            deltas.append([DeltaKind.THINKING.value, self._thinking.sent_points, thinking])
        if text:
            deltas.append([DeltaKind.TEXT.value, self._text.sent_points, text])
        if deltas:
            frame["deltas"] = deltas
        if ops is not None:
            frame["ops"] = ops
        if progress:
            frame["progress"] = [[note.call, note.text, note.fraction] for note in progress.values()]
        return frame

    def _arguments(self, frame: dict[str, Any], text: str, thinking: str) -> tuple[Any, ...]:
        fixed = (
            keys.channel_of(self.conversation),
            publish.frame_tail(frame),
            keys.STREAM_LENGTH,
            keys.EXPIRY_S,
            self.event,
        )
        if not (text or thinking):
            return (*fixed, "", "piece", "", 0, "", 0)
        if self._whole:
            return (*fixed, self.message, "whole", encoded(self._text.whole()), 0, encoded(self._thinking.whole()), 0)
        return (
            *fixed,
            self.message,
            "piece",
            encoded(text),
            self._text.sent_bytes,
            encoded(thinking),
            self._thinking.sent_bytes,
        )
