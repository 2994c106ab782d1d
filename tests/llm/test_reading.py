"""How an answer is read while it comes: what is one delta, and when the reader rests."""

import json
from collections.abc import AsyncIterator

import pytest

from agentweb.engine.enums import DeltaKind
from agentweb.engine.ports import ModelDelta, ModelError, ModelReply
from agentweb.llm.config import ModelConfig
from agentweb.llm.reader import LONG_CHUNK, Reading, read_answer
from agentweb.llm.request import build_request
from tests.llm.asking import request

TEXT, THINKING = DeltaKind.TEXT, DeltaKind.THINKING
WIRE = build_request(ModelConfig("Test", "http://127.0.0.1:1/v1", "test-model"), request())


def event(finish: str | None = None, **delta: str) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"choices": [choice]}).encode() + b"\n\n"


async def arriving(*chunks: bytes) -> AsyncIterator[bytes]:
    for chunk in chunks:
        yield chunk


class Rests:
    """Does not rest, but notes when it was asked to: after how many deltas."""

    def __init__(self) -> None:
        self.deltas: list[tuple[DeltaKind, str]] = []
        self.asked_after: list[int] = []

    def __call__(self) -> float:
        self.asked_after.append(len(self.deltas))
        return 0.0

    async def read(self, *chunks: bytes) -> ModelReply | None:
        reply = None
        reading = Reading(lambda: "id", rest_s=self)
        async for part in read_answer(arriving(*chunks), WIRE, reading):
            if isinstance(part, ModelDelta):
                self.deltas.append((part.kind, part.text))
            else:
                reply = part
        return reply


async def test_words_that_arrive_together_are_one_delta_of_their_kind():
    rests = Rests()
    thought = event(reasoning_content="Let me ") + event(reasoning_content="think.")
    said = event(content="Yes") + event(content=", ") + event(content="of course.")
    await rests.read(thought + said, event(content=" Bye.") + event("stop"))
    assert rests.deltas == [(THINKING, "Let me think."), (TEXT, "Yes, of course."), (TEXT, " Bye.")]


async def test_what_was_said_before_a_fault_in_the_same_chunk_comes_first():
    rests = Rests()
    with pytest.raises(ModelError):
        await rests.read(event(content="One ") + event(content="two.") + b"data: {nonsense\n\n")
    assert rests.deltas == [(TEXT, "One two.")]


async def test_the_reader_rests_after_words_only_and_not_at_the_end():
    rests = Rests()
    await rests.read(event(role="assistant"), event(content="One "), event(content="two."), event("stop"))
    assert rests.asked_after == [1, 2]


async def test_the_reader_does_not_rest_while_more_may_wait_already():
    rests = Rests()
    await rests.read(event(content="x" * LONG_CHUNK), event(content="y"), event("stop"))
    assert rests.asked_after == [2]
