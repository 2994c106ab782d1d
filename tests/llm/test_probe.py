"""A test of a model finds out what it can do, and says what is wrong where it cannot be used."""

import asyncio
import socket
from urllib.parse import urlsplit

import pytest

from agentweb.engine.enums import ErrorKind
from agentweb.llm.clients import close_clients
from agentweb.llm.config import Capabilities, ModelConfig, Structured, ToolProtocol
from agentweb.llm.local import local_servers
from agentweb.llm.probe import Check, Findings, probe
from tests.model_server import ModelServer, serving

KEY = "sk-canary-0123456789"


async def look(base_url: str, longest_s: float = 50.0, **config) -> Findings:
    try:
        return await probe(ModelConfig("m", base_url, "small", api_key=KEY, **config), longest_s)
    finally:
        await close_clients()


async def found_at(server: ModelServer, **config) -> Findings:
    with serving(server):
        return await look(server.base_url, **config)


def said(findings: Findings) -> dict[Check, bool | None]:
    return {finding.check: finding.ok for finding in findings.found}


async def test_a_model_that_can_do_everything():
    server = ModelServer([{"id": "small", "max_model_len": 8192}], formats=("json_schema", "json_object"), calls=2)
    findings = await found_at(server)
    assert said(findings) == dict.fromkeys(list(Check)[:6], True)
    assert findings.can == Capabilities(structured=Structured.JSON_SCHEMA)
    assert (findings.context_size, findings.temperature, findings.problem) == (8192, True, None)
    assert (findings.requests, findings.usage.input_tokens) == (3, 30)
    assert set(server.keys) == {f"Bearer {KEY}"}


@pytest.mark.parametrize(
    ("server", "can"),
    [
        (ModelServer(streams=False), {"streams": False}),
        (ModelServer(refuses=("stream_options",)), {"stream_usage": False}),
        (ModelServer(counts=False), {"stream_usage": False}),
        (ModelServer(calls=1), {"native_tools": True, "parallel_tools": False}),
        (ModelServer(refuses=("tools",)), {"native_tools": False, "parallel_tools": False}),
        (ModelServer(), {"native_tools": False, "parallel_tools": False}),
        (ModelServer(formats=("json_object",)), {"structured": Structured.JSON_OBJECT}),
        (ModelServer(refuses=("response_format",)), {"structured": Structured.NONE}),
        (ModelServer(models=None, calls=2), {"native_tools": True, "parallel_tools": True}),
    ],
)
async def test_what_a_server_cannot_do_is_found_out(server, can):
    findings = await found_at(server)
    assert findings.problem is None
    assert {name: getattr(findings.can, name) for name in can} == can
    assert None not in said(findings).values()


async def test_tools_are_tried_as_the_api_has_them_whatever_the_protocol():
    findings = await found_at(ModelServer(calls=2), protocol=ToolProtocol.TEXT)
    assert findings.can.native_tools and findings.problem is None


async def test_a_temperature_that_is_refused_is_left_out_of_all_else():
    server = ModelServer(refuses=("temperature",), calls=2)
    findings = await found_at(server)
    assert not findings.temperature and said(findings)[Check.TEMPERATURE] is False
    assert findings.can.native_tools and findings.can.stream_usage


UNKNOWN = '{"error": {"message": "The model small does not exist", "code": "model_not_found"}}'


@pytest.mark.parametrize(
    ("server", "kind", "words"),
    [
        (ModelServer(status=401, answer=f'{{"error": "bad key {KEY}"}}'), ErrorKind.AUTH, "check the key"),
        (ModelServer(status=403, answer="{}"), ErrorKind.AUTH, "check the key"),
        (ModelServer(status=402, answer="{}"), ErrorKind.PROVIDER_ERROR, "quota"),
        (ModelServer(status=429, answer="{}"), ErrorKind.RATE_LIMIT, "limiting"),
        (ModelServer(status=404, answer=UNKNOWN), ErrorKind.PROVIDER_ERROR, "The model small does not exist"),
        (ModelServer(status=500, answer="<html>oops</html>"), ErrorKind.PROVIDER_ERROR, "problem of its own"),
        (ModelServer(answer="<html>a portal</html>"), ErrorKind.BAD_RESPONSE, "web page"),
        (ModelServer(answer="data: hello\n\n"), ErrorKind.BAD_RESPONSE, "not JSON"),
        (
            ModelServer(status=302, answer="{}", headers={"location": "http://127.0.0.1:1/"}),
            ErrorKind.PROVIDER_ERROR,
            "points to another address",
        ),
    ],
)
async def test_a_model_that_cannot_be_used_says_why(server, kind, words):
    findings = await found_at(server)
    assert findings.problem is not None and findings.problem.kind is kind
    assert words in findings.problem.message and KEY not in findings.problem.message
    assert not findings.found


async def test_a_name_that_the_server_does_not_know_comes_with_those_that_it_does():
    server = ModelServer([{"id": "large"}, {"id": "tiny"}, {"no": "name"}, "junk"], status=404, answer=UNKNOWN)
    findings = await found_at(server)
    assert findings.unknown_model and [offer.name for offer in findings.offers] == ["large", "tiny"]
    assert len(server.asked) == 1  # more questions would get the same answer


async def test_an_address_without_its_last_part_is_noticed():
    with serving(ModelServer()) as server:
        findings = await look(server.base_url.removesuffix("/v1"))
        assert findings.problem is not None and findings.better_url == server.base_url


async def test_nothing_listens():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        findings = await look(f"http://127.0.0.1:{free.getsockname()[1]}/v1")
    assert findings.problem is not None and "connection was refused" in findings.problem.message


async def test_a_server_that_speaks_no_tls():
    with serving(ModelServer()) as server:
        findings = await look(server.base_url.replace("http:", "https:"))
    assert findings.problem is not None and findings.problem.kind is ErrorKind.CONNECTION
    assert "http://" in findings.problem.message


async def test_a_server_that_never_answers_is_given_up():
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    server = await asyncio.start_server(silent, "127.0.0.1", 0)
    async with server:
        findings = await look(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", longest_s=0.05)
    assert findings.problem is not None and findings.problem.kind is ErrorKind.TIMEOUT


async def test_servers_on_this_machine_are_found_at_their_ports_without_a_key():
    with serving(ModelServer([{"id": "llama3.2:3b"}])) as server, serving(ModelServer(models=[])) as empty:
        ports = [urlsplit(each.base_url).port or 0 for each in (server, empty)]
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            places = (("Ollama", ports[0]), ("vLLM", ports[1]), ("LM Studio", free.getsockname()[1]))
            found = await local_servers(places)
        await close_clients()
    assert [(one.kind, one.base_url, one.models[0].name) for one in found] == [
        ("Ollama", server.base_url, "llama3.2:3b")
    ]
    assert server.keys == [""] and server.paths == ["/v1/models"]
