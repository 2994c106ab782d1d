"""An incremental reader of server-sent events over raw bytes, cut anywhere.

Line ends may be LF, CRLF or CR; comments, unknown fields and blocks without data are passed over.
"""

from collections.abc import Sequence
from typing import NamedTuple

MAX_EVENT_BYTES = 16 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"


class EventTooLarge(ValueError):
    """One event, or one line, is longer than the reader accepts."""


class ServerSentEvent(NamedTuple):
    """The data of one block, its lines joined by a line feed. ``name`` is empty where no event name was given."""

    data: str
    name: str = ""


class EventReader:
    """Feed it chunks as they come; each call gives the events that are complete by then."""

    def __init__(self, max_event_bytes: int = MAX_EVENT_BYTES) -> None:
        self._max = max_event_bytes
        self._partial: list[bytes] = []  # pieces of a line whose end has not come yet
        self._partial_size = 0
        self._data: list[bytes] = []
        self._data_size = 0
        self._name = b""
        self._after_cr = False
        self._started = False

    def feed(self, chunk: bytes) -> Sequence[ServerSentEvent]:
        """Raises EventTooLarge; UTF-8 that is broken becomes replacement characters."""
        if self._after_cr and chunk:
            # The CR before ended a line already: the LF of a CRLF cut in two must not end another.
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        if not chunk:
            return ()
        if b"\n" not in chunk and b"\r" not in chunk:
            self._keep(chunk)
            return ()
        self._after_cr = chunk.endswith(b"\r")
        lines = b"".join((*self._partial, chunk)).splitlines()
        self._partial, self._partial_size = [], 0
        if not chunk.endswith((b"\n", b"\r")):
            self._keep(lines.pop())
        return self._take(lines)

    def close(self) -> Sequence[ServerSentEvent]:
        """The body has ended: a last block without its blank line still counts."""
        lines = [b"".join(self._partial), b""]
        self._partial, self._partial_size = [], 0
        return self._take(lines)

    def _keep(self, piece: bytes) -> None:
        self._partial.append(piece)
        self._partial_size += len(piece)
        self._check(self._partial_size)

    def _check(self, size: int) -> None:
        if size > self._max:
            raise EventTooLarge(f"an event of more than {self._max} bytes")

    def _take(self, lines: Sequence[bytes]) -> Sequence[ServerSentEvent]:
        if not self._started and lines:
            self._started = True
            lines = [lines[0].removeprefix(_BOM), *lines[1:]]
        events = []
        for line in lines:
            if line.startswith(b"data: {"):  # as almost always
                self._add(line[6:])
            elif line:
                self._field(line)
            elif self._data:
                events.append(self._event())
            else:
                self._name = b""
        return events

    def _field(self, line: bytes) -> None:
        field, colon, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            if colon and value.strip():
                self._add(value)
        elif field == b"event":
            self._name = value

    def _add(self, value: bytes) -> None:
        self._data.append(value)
        self._data_size += len(value)
        self._check(self._data_size)

    def _event(self) -> ServerSentEvent:
        event = ServerSentEvent(
            (self._data[0] if len(self._data) == 1 else b"\n".join(self._data)).decode("utf-8", "replace"),
            self._name.decode("utf-8", "replace") if self._name else "",
        )
        self._data, self._data_size, self._name = [], 0, b""
        return event
