"""One call to an endpoint over real HTTP: what is sent, what comes back, and how every failure is named."""

import asyncio
import gzip
import hashlib
import json
import socket
from decimal import Decimal

import pytest

from agentweb.engine.enums import ErrorKind, Finish, Purpose
from agentweb.engine.messages import UserMessage
from agentweb.engine.ports import ModelDelta
from agentweb.llm.clients import close_clients
from agentweb.llm.endpoint import client_for
from agentweb.llm.request import WRAP_UP_INSTRUCTION
from agentweb.llm.usage import Prices
from tests.llm.asking import CANARY, ask, model, request, spec
from tests.llm.fake_provider import DONE, event, serve

HELLO = [event({"content": "Hello"}), event(finish="stop"), DONE]


@pytest.fixture(autouse=True)
async def _connections_closed():
    yield
    await close_clients()


def answer(status: int, body: object = "", **headers: str) -> list[dict]:
    text = body if isinstance(body, str) else json.dumps(body)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return [{"status": status, "headers": {"content-type": "application/json", **named}, "body": text}]


async def failure(*frames, **settings):
    async with serve(*(frames or ([],))) as provider:
        outcome = await ask(model(provider.base_url, **settings), request())
    assert outcome.error
    said = f"{outcome.error.message} {outcome.error!r} {outcome.error.__cause__!r} {outcome.error.__context__!r}"
    assert CANARY not in said
    assert outcome.error.message.endswith((".", "…")) or "It said: " in outcome.error.message
    return outcome.error


async def test_the_digest_is_that_of_the_bytes_that_are_sent():
    async with serve(HELLO) as provider:
        asked = model(provider.base_url, headers={"X-Team": "blue"}, body={"top_p": 0.5}, temperature=0.0)
        call = asked.prepare(request("Hi", [spec("read_file")]))
        parts = [part async for part in call.stream()]
    assert len(parts) == 2
    sent = provider.requests[0]
    assert sent == call.body
    assert (
        call.digest == hashlib.sha256(json.dumps(sent, ensure_ascii=False, separators=(",", ":")).encode()).hexdigest()
    )
    assert (sent["model"], sent["stream"], sent["temperature"], sent["top_p"]) == ("test-model", True, 0.0, 0.5)
    assert sent["stream_options"] == {"include_usage": True}
    assert [tool["function"]["name"] for tool in sent["tools"]] == ["read_file"]
    headers = provider.headers[0]
    assert headers["authorization"] == f"Bearer {CANARY}" and headers["x-team"] == "blue"


async def test_nothing_from_the_environment_reaches_the_endpoint(monkeypatch):
    for name in ("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "from-the-environment")
    async with serve(HELLO) as provider:
        await ask(model(provider.base_url, api_key=""), request())
    assert "authorization" not in provider.headers[0]
    assert "from-the-environment" not in str(provider.headers)


async def test_temperature_is_left_out_when_there_is_none():
    async with serve(HELLO) as provider:
        await ask(model(provider.base_url, temperature=None), request())
    assert "temperature" not in provider.requests[0]


@pytest.mark.parametrize("strict", [False, True])
async def test_the_wrap_up_keeps_the_tools_but_forbids_them(strict):
    async with serve(HELLO) as provider:
        asked = request("Hi", [spec("read_file")], purpose=Purpose.WRAP_UP)
        outcome = await ask(model(provider.base_url, strict_roles=strict), asked)
    sent = provider.requests[0]
    assert sent["tool_choice"] == "none" and sent["tools"]
    assert sent["messages"][-1]["role"] == "user" and sent["messages"][-1]["content"].endswith(WRAP_UP_INSTRUCTION)
    assert len(sent["messages"]) == (2 if strict else 3)
    assert outcome.text == "Hello"


async def test_usage_and_cost_are_those_that_the_server_reports_last():
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 200,
        "prompt_tokens_details": {"cached_tokens": 400},
        "completion_tokens_details": {"reasoning_tokens": 50},
    }
    early = event({"content": "Hello"}, usage={"prompt_tokens": 1, "completion_tokens": 1})
    late = f"data: {json.dumps({'choices': [], 'usage': usage})}\n\n"
    async with serve([early, event(finish="stop"), late, DONE]) as provider:
        prices = Prices(Decimal("2"), Decimal("0.5"), Decimal("10"))
        outcome = await ask(model(provider.base_url, prices=prices), request())
    spent = outcome.reply.usage
    assert (spent.input_tokens, spent.cached_tokens, spent.output_tokens, spent.thinking_tokens) == (1000, 400, 200, 50)
    assert spent.cost == Decimal("0.0034")
    assert (spent.model_calls, spent.turns) == (0, 0)
    assert "usage_estimated" not in outcome.reply.extra and spent.estimated_calls == 0


async def test_usage_is_estimated_and_marked_when_the_server_counts_nothing():
    async with serve([event({"content": "x" * 35}), event(finish="stop")]) as provider:
        outcome = await ask(model(provider.base_url, prices=Prices(output=Decimal(1))), request())
    assert outcome.reply.extra["usage_estimated"] is True
    assert outcome.reply.usage.output_tokens == 10 and outcome.reply.usage.input_tokens > 20
    assert outcome.reply.usage.cost == Decimal("0.00001")
    assert outcome.reply.usage.estimated_calls == 1


async def test_what_a_call_has_used_that_broke_off_is_guessed_from_what_was_seen_of_it():
    call = model("http://127.0.0.1:9/v1", prices=Prices(output=Decimal(1))).prepare(request())
    guess = call.guess("x" * 35, "y" * 70)
    assert (guess.output_tokens, guess.thinking_tokens, guess.estimated_calls) == (30, 20, 1)
    assert guess.input_tokens > 20 and guess.cost == Decimal("0.00003")


@pytest.mark.parametrize(
    ("status", "body", "kind", "retryable", "words"),
    [
        (400, {"error": {"message": "bad field"}}, ErrorKind.PROVIDER_ERROR, False, "bad field"),
        (
            400,
            {"error": {"message": "This model's maximum context length is 8192 tokens."}},
            ErrorKind.CONTEXT_LENGTH,
            False,
            "8192",
        ),
        (
            400,
            {"error": {"type": "exceed_context_size_error", "message": "x"}},
            ErrorKind.CONTEXT_LENGTH,
            False,
            "longer",
        ),
        (401, {"error": {"message": f"Incorrect API key provided: {CANARY}"}}, ErrorKind.AUTH, False, "check the key"),
        (403, "Forbidden", ErrorKind.AUTH, False, "Forbidden"),
        (402, {"detail": "pay"}, ErrorKind.PROVIDER_ERROR, False, "quota"),
        (404, "<html>nothing here</html>", ErrorKind.PROVIDER_ERROR, False, "check the base URL"),
        (404, {"error": {"message": "The model `x` does not exist"}}, ErrorKind.PROVIDER_ERROR, False, "model's name"),
        (404, {"error": 'model "x" not found, try pulling it first'}, ErrorKind.PROVIDER_ERROR, False, "model's name"),
        (400, {"error": {"message": "x is not a valid model ID"}}, ErrorKind.PROVIDER_ERROR, False, "model's name"),
        (
            404,
            {"error": {"message": "gone", "code": "model_not_found"}},
            ErrorKind.PROVIDER_ERROR,
            False,
            "model's name",
        ),
        (413, "<html>too large</html>", ErrorKind.CONTEXT_LENGTH, False, "larger than"),
        (408, "", ErrorKind.TIMEOUT, True, "too long"),
        (
            422,
            {"detail": [{"loc": ["body"], "msg": "field required"}]},
            ErrorKind.PROVIDER_ERROR,
            False,
            "field required",
        ),
        (429, {"error": "slow down"}, ErrorKind.RATE_LIMIT, True, "slow down"),
        (
            429,
            {"error": {"code": "insufficient_quota", "message": "used up"}},
            ErrorKind.PROVIDER_ERROR,
            False,
            "used up",
        ),
        (429, {"error": {"message": "Too many tokens per minute"}}, ErrorKind.RATE_LIMIT, True, "limiting"),
        (500, "", ErrorKind.PROVIDER_ERROR, True, "of its own"),
        (503, {"message": "loading model"}, ErrorKind.PROVIDER_ERROR, True, "loading model"),
        (529, ["overloaded"], ErrorKind.PROVIDER_ERROR, True, "overloaded"),
        (301, "", ErrorKind.PROVIDER_ERROR, False, "final address"),
        (400, "[" * 100_000, ErrorKind.PROVIDER_ERROR, False, "refused"),
    ],
)
async def test_a_refusal_is_named_and_says_what_to_do(status, body, kind, retryable, words):
    error = await failure(answer(status, body, location="http://127.0.0.1:9/elsewhere"))
    assert (error.kind, error.retryable) == (kind, retryable)
    assert words in error.message and len(error.message) < 700


async def test_the_key_is_cut_out_of_everything_that_a_server_says():
    echoes = {"error": {"message": f"key {CANARY} and header s3cret-header-value", "code": f"x-{CANARY}"}}
    for frames in (answer(400, echoes), [f"data: {json.dumps(echoes)}\n\n"]):
        error = await failure(frames, headers={"x-api-key": "s3cret-header-value"})
        assert "s3cret" not in error.message and CANARY not in error.code


@pytest.mark.parametrize(("header", "seconds"), [("7", 7), ("0.5", 0.5), ("soon", None), ("-3", None), ("inf", None)])
async def test_the_wait_that_a_server_asks_for_is_kept(header, seconds):
    assert (await failure(answer(429, "", retry_after=header))).retry_after_s == seconds


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.mark.parametrize(
    ("base_url", "kind", "retryable", "words"),
    [
        ("http://127.0.0.1:{port}/v1", ErrorKind.CONNECTION, True, "refused"),
        ("http://no-such-host.invalid/v1", ErrorKind.CONNECTION, True, "not found"),
        ("ftp://127.0.0.1/v1", ErrorKind.CONNECTION, False, "valid URL"),
        ("", ErrorKind.CONNECTION, False, "valid URL"),
    ],
)
async def test_an_endpoint_that_is_not_there_is_told_apart(base_url, kind, retryable, words):
    outcome = await ask(model(base_url.format(port=free_port())), request())
    assert outcome.error
    assert (outcome.error.kind, outcome.error.retryable) == (kind, retryable)
    assert words in outcome.error.message


async def test_a_user_and_password_in_the_address_are_not_told():
    outcome = await ask(model(f"http://ann:{CANARY}@127.0.0.1:{free_port()}/v1?key={CANARY}"), request())
    assert outcome.error and CANARY not in outcome.error.message and "127.0.0.1" in outcome.error.message


@pytest.mark.parametrize(
    ("frames", "kind"),
    [
        ([event({"content": "Half"}), {"close": True, "reset": True}], ErrorKind.STREAM_INTERRUPTED),
        ([event({"content": "Half"}), {"close": True}], ErrorKind.STREAM_INTERRUPTED),
        ([event({"content": "Half"})], ErrorKind.STREAM_INTERRUPTED),
        ([event({"content": "Half"}), "data: {broken\n\n"], ErrorKind.BAD_RESPONSE),
        ([event({"content": "Half"}), {"delay_s": 3}, DONE], ErrorKind.TIMEOUT),
        ([event({"content": "Half"}), 'event: error\ndata: {"message": "boom"}\n\n'], ErrorKind.PROVIDER_ERROR),
        ([event({"content": "Half <tool_call>{"})], ErrorKind.STREAM_INTERRUPTED),
    ],
)
async def test_what_came_before_a_break_is_shown_and_no_call_runs(frames, kind):
    async with serve(frames) as provider:
        outcome = await ask(model(provider.base_url, idle_timeout_s=0.4), request("Hi", [spec("list_dir")]))
    assert outcome.error and outcome.error.kind is kind
    assert outcome.text.startswith("Half") and outcome.reply is None


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        ("<!doctype html><title>Sign in</title>", ErrorKind.BAD_RESPONSE, "web page"),
        ("{}", ErrorKind.EMPTY_RESPONSE, ""),
        ("", ErrorKind.STREAM_INTERRUPTED, ""),
        ("not json at all", ErrorKind.STREAM_INTERRUPTED, ""),
        ('{"error": {"message": "no such model", "code": 404}}', ErrorKind.PROVIDER_ERROR, "no such model"),
        ("[" * 50_000, ErrorKind.BAD_RESPONSE, "not JSON"),
    ],
)
async def test_a_good_status_with_a_bad_body_is_no_answer(body, kind, words):
    error = await failure(answer(200, body))
    assert error.kind is kind and words in error.message


async def test_no_http_at_all_is_named():
    async def rude(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"SSH-2.0-OpenSSH\r\n")
        writer.close()

    server = await asyncio.start_server(rude, "127.0.0.1", 0)
    async with server:
        outcome = await ask(model(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"), request())
    assert outcome.error and outcome.error.kind in (ErrorKind.BAD_RESPONSE, ErrorKind.CONNECTION)


async def test_a_server_that_never_answers_times_out():
    error = await failure([{"delay_s": 5}, *HELLO], idle_timeout_s=0.2)
    assert error.kind is ErrorKind.TIMEOUT and "0.2 seconds" in error.message


async def test_a_lively_connection_is_still_bounded_in_all():
    drip = [frame for _ in range(60) for frame in (": alive\n\n", {"delay_s": 0.05})]
    error = await failure([*drip, *HELLO], idle_timeout_s=5.0, total_timeout_s=0.4)
    assert error.kind is ErrorKind.TIMEOUT and "0.4 seconds" in error.message


async def test_a_finished_answer_does_not_wait_for_a_server_that_hangs():
    async with serve(
        [event({"content": "Hello"}), event(finish="stop"), {"delay_s": 0.3}, {"close": True}]
    ) as provider:
        outcome = await ask(model(provider.base_url), request())
    assert outcome.reply and outcome.reply.finish is Finish.STOP


async def test_compressed_answers_are_read():
    packed = gzip.compress("".join(HELLO).encode())

    async def handle(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-encoding: gzip\r\nconnection: close\r\n"
        writer.write(f"{head}content-length: {len(packed)}\r\n\r\n".encode() + packed)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with server:
        outcome = await ask(model(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1"), request())
    assert outcome.text == "Hello"


async def test_closing_the_stream_closes_the_connection():
    endless = [event({"content": "word "}), *([{"delay_s": 0.05}, event({"content": "word "})] * 200)]
    async with serve(endless) as provider:
        stream = model(provider.base_url).prepare(request()).stream()
        async for part in stream:
            assert isinstance(part, ModelDelta)
            break
        await stream.aclose()
        async with asyncio.timeout(2):
            await provider.closed_by_client.wait()


async def test_cancelling_a_waiting_call_ends_it_at_once():
    async with serve([{"delay_s": 30}]) as provider:
        waiting = asyncio.create_task(ask(model(provider.base_url), request()))
        while not provider.requests:
            await asyncio.sleep(0.01)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        async with asyncio.timeout(2):
            await provider.closed_by_client.wait()


async def test_one_client_serves_an_endpoint_whatever_the_key():
    one, other = model("http://127.0.0.1:1/v1"), model("http://127.0.0.1:1/v1", api_key="another-key")
    assert client_for(one.config) is client_for(other.config)
    assert client_for(model("http://127.0.0.1:2/v1").config) is not client_for(one.config)
    assert CANARY not in f"{one.config!r}"


async def test_lone_surrogates_and_nul_in_a_conversation_can_be_sent():
    async with serve(HELLO) as provider:
        outcome = await ask(model(provider.base_url), request([UserMessage("u", "a\x00b\ud800c", "Ann")]))
    assert outcome.text == "Hello"
    assert provider.requests[0]["messages"][-1]["content"] == "ab\ufffdc"
