"""From the bytes of an answer to deltas and one reply; the same for endpoints and for the scripted model."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, replace
from typing import Any

from agentweb.engine.enums import DeltaKind, ErrorKind
from agentweb.engine.ports import ModelDelta, ModelError, ModelReply
from agentweb.engine.usage import Usage
from agentweb.llm.assembler import Assembler
from agentweb.llm.errors import bad_response, interrupted
from agentweb.llm.request import WireRequest
from agentweb.llm.sse import EventReader, EventTooLarge, ServerSentEvent
from agentweb.llm.usage import FREE, Prices, estimated, reported

MAX_ANSWER_BYTES = 64 * 1024 * 1024
END_MARK = "[DONE]"
LINGER_S = 3.0  # how long usage may still come after a finish reason
LONG_CHUNK = 8 * 1024  # bytes; behind one of this length more may wait already


def no_rest() -> float:
    return 0.0


@dataclass(frozen=True, slots=True)
class Reading:
    """How an answer is read. ``total_s`` bounds the whole of it, however lively the connection is kept.

    ``rest_s`` tells after each delta for how many seconds words may gather in the connection: whoever shows them at
    intervals has no use for each of them by itself, and to read several at once is much cheaper. ``held`` is what the
    connection does meanwhile."""

    new_id: Callable[[], str]
    prices: Prices = FREE
    total_s: float = 600.0
    linger_s: float = LINGER_S
    rest_s: Callable[[], float] = no_rest
    held: Callable[[], AbstractContextManager[None]] = nullcontext


async def read_answer(
    chunks: AsyncIterator[bytes], request: WireRequest, reading: Reading
) -> AsyncGenerator[ModelDelta | ModelReply, None]:
    """Deltas, then one reply. Raises ModelError after the deltas that came before the fault.

    Whatever ``chunks`` raises passes through, unless the answer was finished by then."""
    assembler = Assembler(request.names, reading.new_id, request.reader(reading.new_id))
    decoder, arrivals = _Decoder(assembler), _Arrivals(chunks, assembler, reading)
    fault: ModelError | None = None
    try:
        while (chunk := await arrivals.next()) is not None:
            spoke = False
            for delta in _joined(decoder.feed(chunk)):
                spoke = True
                yield delta
            if decoder.ended:
                break
            if assembler.enough:
                assembler.end_mark()
                break
            if spoke and len(chunk) < LONG_CHUNK and not assembler.finished and (rest_s := reading.rest_s()) > 0:
                with reading.held():
                    await asyncio.sleep(rest_s)
        for delta in decoder.close():
            yield delta
    except ModelError as error:
        fault = error
    fault = fault or assembler.fault or (None if assembler.finished else interrupted())
    for delta in assembler.drain() if fault else assembler.close():
        yield delta
    if fault:
        raise fault
    yield _with_usage(assembler, request, reading)


def _joined(deltas: Iterable[ModelDelta]) -> Iterator[ModelDelta]:
    """Neighbours of one kind as one delta; what came before a fault comes out before it is raised."""
    texts: list[str] = []
    kind, fault = DeltaKind.TEXT, None
    try:
        for delta in deltas:
            if texts and delta.kind is not kind:
                yield ModelDelta(kind, "".join(texts))
                texts = []
            kind = delta.kind
            texts.append(delta.text)
    except ModelError as error:
        fault = error
    if texts:
        yield ModelDelta(kind, "".join(texts))
    if fault:
        raise fault


class _Arrivals:
    """The chunks, as long as they may take. The connection itself bounds silence; this bounds the whole."""

    def __init__(self, chunks: AsyncIterator[bytes], assembler: Assembler, reading: Reading) -> None:
        self._chunks = chunks
        self._assembler = assembler
        self._reading = reading
        self._clock = asyncio.get_running_loop().time
        self._deadline = self._clock() + reading.total_s
        self._lingers = False

    async def next(self) -> bytes | None:
        """None behind the last one."""
        if self._assembler.finished:
            return await self._late()
        try:
            chunk = await anext(self._chunks)
        except StopAsyncIteration:
            return None
        if self._clock() > self._deadline:
            raise _too_long(self._reading.total_s)
        return chunk

    async def _late(self) -> bytes | None:
        """What comes behind a finish reason, such as usage; by now neither silence nor a lost connection matters."""
        if not self._lingers:
            self._lingers = True
            self._deadline = min(self._deadline, self._clock() + self._reading.linger_s)
        try:
            async with asyncio.timeout_at(self._deadline):
                return await anext(self._chunks)
        except Exception:  # the end of the chunks included
            return None


def _too_long(seconds: float) -> ModelError:
    return ModelError(
        ErrorKind.TIMEOUT,
        f"The answer took longer than {seconds:g} seconds. Ask for less at once, or have an admin raise this limit.",
        retryable=True,
    )


class _Decoder:
    """Takes the body apart: server-sent events, or one JSON document where the server does not stream."""

    def __init__(self, assembler: Assembler) -> None:
        self.ended = False
        self._assembler = assembler
        self._events = EventReader()
        self._document: list[bytes] | None = None  # set when the body is no event stream
        self._begun = False
        self._size = 0

    def feed(self, chunk: bytes) -> Iterator[ModelDelta]:
        self._size += len(chunk)
        if self._size > MAX_ANSWER_BYTES:
            raise bad_response("an endless answer", retryable=False)
        if not self._begun:
            self._begin(chunk)
        if self._document is not None:
            self._document.append(chunk)
            return
        try:
            events = self._events.feed(chunk)
        except EventTooLarge:
            raise bad_response("one piece of data of enormous size", retryable=False) from None
        yield from self._take(events)

    def _begin(self, chunk: bytes) -> None:
        start = chunk.lstrip(b"\xef\xbb\xbf \t\r\n")
        if start:
            self._begun = True
            if start.startswith((b"{", b"[", b"<")):
                self._document = []

    def close(self) -> Iterator[ModelDelta]:
        if self.ended:
            return
        if self._document is None:
            yield from self._take(self._events.close())
            return
        text = b"".join(self._document).decode("utf-8", "replace")
        if text.lstrip().startswith("<"):
            raise bad_response("a web page instead of an answer", retryable=False)
        self._assembler.end_mark()
        yield from self._heard([text])

    def _take(self, events: Iterable[ServerSentEvent]) -> Iterator[ModelDelta]:
        """Neighbours are parsed and heard together."""
        texts: list[str] = []
        for event in events:
            if event.name != "error" and event.data.strip() != END_MARK:
                texts.append(event.data)
                continue
            yield from self._heard(texts)
            texts = []
            if self.ended:
                return
            if event.name == "error":
                self._assembler.fail(_json_or_text(event.data))
            else:
                self._assembler.end_mark()
            self.ended = True
            return
        yield from self._heard(texts)

    def _heard(self, texts: Sequence[str]) -> Iterator[ModelDelta]:
        if not texts:
            return
        chunks, broken = _parsed(texts)
        yield from self._assembler.feed(chunks)
        self.ended = self._assembler.fault is not None
        if broken and not self.ended:
            raise bad_response("data that is not JSON")


def _parsed(texts: Sequence[str]) -> tuple[Sequence[Any], bool]:
    """The values up to the first text that is no JSON, and whether there was one. Many are read as one list, which is
    quicker; objects that only together are JSON would be fewer or more than there are texts."""
    if len(texts) > 1 and all(text[0] == "{" and text[-1] == "}" for text in texts):
        with suppress(ValueError, RecursionError):
            values = json.loads(f"[{','.join(texts)}]")
            if len(values) == len(texts):
                return values, False
    values = []
    for text in texts:
        try:
            values.append(json.loads(text))
        except (ValueError, RecursionError):
            return values, True
    return values, False


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _with_usage(assembler: Assembler, request: WireRequest, reading: Reading) -> ModelReply:
    reply = assembler.reply()
    usage = reported(assembler.usage, reading.prices) if assembler.usage else Usage()
    if usage.input_tokens or usage.output_tokens:
        return replace(reply, usage=usage)
    arguments = "".join(call.name + call.raw for call in reply.calls) + reply.extra.get("invented", {}).get("text", "")
    guess = estimated(len(request.content), reply.text, reply.thinking, arguments, reading.prices)
    return replace(reply, usage=guess, extra={**reply.extra, "usage_estimated": True})
