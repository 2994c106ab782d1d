"""How an answer is read while it comes: what is one delta, and when the reader rests."""

import json
from collections.abc import AsyncIterator

import pytest

from agentweb.engine.enums import DeltaKind
from agentweb.engine.ports import ModelDelta, ModelError, ModelReply
from agentweb.llm.clients import close_clients
from agentweb.llm.config import ModelConfig, ToolProtocol
from agentweb.llm.endpoint import post_completion
from agentweb.llm.holding import Held
from agentweb.llm.reader import LONG_CHUNK, Reading, read_answer
from agentweb.llm.request import build_request
from tests.llm import fake_provider
from tests.llm.asking import ask, model, request, spec
from tests.llm.fake_provider import serve

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


async def test_objects_that_are_json_only_together_are_not_taken_for_it():
    rests = Rests()
    halves = b'data: {"choices": [{"a": 1}\n\ndata: {"b": 2}]}\n\n'
    with pytest.raises(ModelError) as raised:
        await rests.read(event(content="One") + halves + event(content="two"), event("stop"))
    assert rests.deltas == [(TEXT, "One")] and "not JSON" in raised.value.message


INVENTED = {
    ToolProtocol.TEXT: "Action: get_time\nAction Input: {}\nObservation: 99 o'clock\nFinal Answer: It is 99.",
    ToolProtocol.JSON_ACTION: '{"thought": "I look.", "step": "CALL_TOOL", "tool_name": "get_time", "arguments": {}}'
    + "\nThe result is 99 o'clock." * 12,
}


@pytest.mark.parametrize("protocol", INVENTED)
async def test_an_answer_is_not_read_beyond_what_the_model_invents(protocol):
    goes_on = [fake_provider.event({"content": "and so on "}), {"delay_s": 30}, fake_provider.event(finish="stop")]
    async with serve([fake_provider.event({"content": INVENTED[protocol]}), *goes_on]) as provider:
        outcome = await ask(model(provider.base_url, protocol=protocol), request("Now?", [spec("get_time")]))
        await provider.closed_by_client.wait()
    await close_clients()
    assert outcome.reply and [call.name for call in outcome.reply.calls] == ["get_time"]
    assert "99" in outcome.reply.extra["invented"]["text"]
    assert outcome.reply.usage.estimated_calls == 1 and outcome.reply.usage.output_tokens > 10


async def test_while_the_reader_rests_nothing_is_read_from_its_connection():
    async with serve([fake_provider.event({"content": "One"}), {"delay_s": 30}]) as provider:
        response = await post_completion(ModelConfig("Test", provider.base_url, "m"), b"{}")
        chunks = response.aiter_bytes()
        assert b"One" in await anext(chunks)
        held = Held(response)
        transport = held.transport
        assert transport and transport.is_reading()
        for _ in range(2):
            with held:
                assert not transport.is_reading()
            assert transport.is_reading()
        await response.aclose()
        with held:
            assert transport.is_closing()
        await close_clients()
