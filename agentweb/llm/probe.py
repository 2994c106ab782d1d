"""Finds out what a model and its server can do, by a handful of short requests over the same path that runs take."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

import httpx2

from agentweb.engine.enums import ErrorKind
from agentweb.engine.messages import UserMessage
from agentweb.engine.ports import ModelError, ModelReply, ModelRequest, ToolSpec
from agentweb.engine.usage import Usage
from agentweb.llm.calls import new_call_id
from agentweb.llm.config import Capabilities, ModelConfig, Structured, ToolProtocol
from agentweb.llm.native import OpenAICall
from agentweb.llm.offers import Offer, offered
from agentweb.llm.reader import Reading
from agentweb.llm.request import build_request
from agentweb.llm.written import Written

LONGEST_S = 50.0  # of a whole test, so that no proxy in front of the page gives up first
IDLE_S = 30.0
PLAIN = "Reply with the single word: ready"
WEATHER = "What is the weather in Beijing and in Shenzhen? Ask the tool about both cities at once."
GREETING = "Say hello to the people of Beijing."
AS_JSON = "Say hello to the people of Beijing, as a JSON object with the field greeting."
SCHEMA = {
    "type": "object",
    "properties": {"greeting": {"type": "string"}, "mood": {"type": "string", "enum": ["calm", "merry"]}},
    "required": ["greeting", "mood"],
    "additionalProperties": False,
}
FORMATS: dict[Structured, dict[str, Any]] = {
    Structured.JSON_SCHEMA: {
        "type": "json_schema",
        "json_schema": {"name": "greeting", "strict": True, "schema": SCHEMA},
    },
    Structured.JSON_OBJECT: {"type": "json_object"},
}
TOOL = ToolSpec(
    "get_weather",
    "Weather",
    "The weather in one city now.",
    {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
)


class Check(StrEnum):
    """What was looked at."""

    ANSWER = "answer"
    STREAM = "stream"
    USAGE = "usage"
    TOOLS = "tools"
    PARALLEL = "parallel"
    STRUCTURED = "structured"
    TEMPERATURE = "temperature"


@dataclass(frozen=True, slots=True)
class Finding:
    """``ok`` None: it could not be found out. ``detail`` is what was said about it, in the words of the server."""

    check: Check
    ok: bool | None
    detail: str = ""


@dataclass(slots=True)
class Findings:
    """What a test found. ``problem``: the model cannot be used at all, and why; ``offers`` is the server's list, empty
    where it has none; ``better_url`` is an address at the same server that answers where the given one does not."""

    offers: tuple[Offer, ...] = ()
    problem: ModelError | None = None
    unknown_model: bool = False
    better_url: str = ""
    found: list[Finding] = field(default_factory=list)
    can: Capabilities = field(default_factory=Capabilities)
    temperature: bool = True  # it may be sent
    context_size: int = 0
    usage: Usage = field(default_factory=Usage)
    requests: int = 0

    def note(self, check: Check, ok: bool | None, detail: str = "") -> None:
        self.found.append(Finding(check, ok, detail))


class _Call(OpenAICall):
    """One request that also tells how its answer was sent."""

    content_type = ""

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[httpx2.Response]:
        async with super()._opened() as response:
            self.content_type = response.headers.get("content-type", "")
            yield response


@dataclass(frozen=True, slots=True)
class _Answer:
    reply: ModelReply
    streamed: bool

    @property
    def counted(self) -> bool:
        return not self.reply.extra.get("usage_estimated")


async def probe(config: ModelConfig, longest_s: float = LONGEST_S) -> Findings:
    """Look at one model, by the API's own tools whatever its protocol is. Never raises for what a server does; takes at
    most ``longest_s`` seconds."""
    findings = Findings()
    config = replace(
        config,
        idle_timeout_s=min(config.idle_timeout_s, IDLE_S),
        total_timeout_s=min(config.total_timeout_s, longest_s),
        protocol=ToolProtocol.NATIVE,
    )
    try:
        async with asyncio.timeout(longest_s):
            await _Probe(config, findings).everything()
    except TimeoutError:
        if not findings.found:
            sentence = (
                f"The model server did not answer within {longest_s:g} seconds. Check that it is up, or try again."
            )
            findings.problem = ModelError(ErrorKind.TIMEOUT, sentence, retryable=True)
    missing = set(Check) - {finding.check for finding in findings.found} - {Check.TEMPERATURE}
    if not findings.can.native_tools:
        missing.discard(Check.PARALLEL)  # nothing is called at all
    for check in () if findings.problem else sorted(missing, key=list(Check).index):
        findings.note(check, None)
    return findings


class _Probe:
    """``config`` is changed on the way, as far as the server shows what it refuses."""

    def __init__(self, config: ModelConfig, findings: Findings) -> None:
        self._config = config
        self._findings = findings
        self._unlisted = False  # the server has a list, and this model is not on it

    async def everything(self) -> None:
        findings = self._findings
        try:
            findings.offers = await offered(self._config)
        except ModelError as error:
            if error.kind in (ErrorKind.CONNECTION, ErrorKind.TIMEOUT):
                findings.problem = error
                return
        named = [offer for offer in findings.offers if offer.name == self._config.model]
        findings.context_size = named[0].context_size if named else 0
        self._unlisted = bool(findings.offers) and not named
        try:
            await self._speaks()
        except ModelError as error:
            findings.problem = error
            findings.unknown_model = self._unlisted and error.kind is ErrorKind.PROVIDER_ERROR
            findings.better_url = await self._better_url()
            return
        await asyncio.gather(self._tools(), self._structured())

    async def _better_url(self) -> str:
        """The same address with /v1 behind it, if a list of models is there: the usual slip."""
        base_url = self._config.base_url.rstrip("/")
        if self._findings.offers or base_url.endswith("/v1"):
            return ""
        try:
            await offered(replace(self._config, base_url=f"{base_url}/v1"))
        except ModelError:
            return ""
        return f"{base_url}/v1"

    async def _speaks(self) -> None:
        """Ask as runs do, then without what a server may refuse. Raises the first ModelError if all of that fails."""
        can = Capabilities(structured=Structured.NONE)
        first: ModelError | None = None
        asked = self._config.temperature
        for capabilities in (can, replace(can, stream_usage=False), replace(can, streams=False, stream_usage=False)):
            for temperature in dict.fromkeys((asked, None)):
                config = replace(self._config, can=capabilities, temperature=temperature)
                try:
                    answer = await self._ask(config, PLAIN)
                except ModelError as error:
                    first = first or error
                    if self._unlisted or not _may_be_a_setting(error):
                        raise first from None
                    continue
                self._config = config
                self._findings.temperature = temperature == asked
                self._spoke(answer, first)
                return
        assert first is not None
        raise first

    def _spoke(self, answer: _Answer, refused: ModelError | None) -> None:
        findings, can, why = self._findings, self._config.can, refused.message if refused else ""
        findings.note(Check.ANSWER, True, answer.reply.text.strip()[:200])
        streams = can.streams and answer.streamed
        findings.note(Check.STREAM, streams, "" if streams else why)
        usage = can.stream_usage and answer.counted if streams else answer.counted
        findings.note(Check.USAGE, usage, "" if usage or can.stream_usage else why)
        if not findings.temperature:
            findings.note(Check.TEMPERATURE, False, why)
        findings.can = replace(findings.can, streams=streams, stream_usage=can.stream_usage and answer.counted)

    async def _tools(self) -> None:
        findings = self._findings
        try:
            reply = (await self._ask(self._config, WEATHER, tools=(TOOL,))).reply
        except ModelError as error:
            refused = _may_be_a_setting(error)
            findings.note(Check.TOOLS, False if refused else None, error.message)
            findings.can = replace(findings.can, native_tools=not refused, parallel_tools=not refused)
            return
        good = [call for call in reply.calls if call.name == TOOL.name and not call.invalid and not call.recovered]
        findings.note(Check.TOOLS, bool(good), "" if good else reply.text.strip()[:200])
        findings.note(Check.PARALLEL, len(good) > 1)
        findings.can = replace(findings.can, native_tools=bool(good), parallel_tools=len(good) > 1)

    async def _structured(self) -> None:
        """The stronger promise first. Its question names no JSON, so only a server that keeps it passes."""
        said = ""
        for structured, question in ((Structured.JSON_SCHEMA, GREETING), (Structured.JSON_OBJECT, AS_JSON)):
            body = {**self._config.body, "response_format": FORMATS[structured]}
            try:
                text = (await self._ask(replace(self._config, body=body), question)).reply.text
            except ModelError as error:
                said = said or error.message
                if not _may_be_a_setting(error):
                    self._findings.note(Check.STRUCTURED, None, said)
                    return
                continue
            if _keeps(text, structured):
                self._findings.note(Check.STRUCTURED, True, structured.value)
                self._findings.can = replace(self._findings.can, structured=structured)
                return
            said = said or text.strip()[:200]
        self._findings.note(Check.STRUCTURED, False, said)

    async def _ask(self, config: ModelConfig, question: str, tools: tuple[ToolSpec, ...] = ()) -> _Answer:
        request = ModelRequest("test", "", (UserMessage("test", question),), tools)
        reading = Reading(new_call_id, config.prices_now(), config.total_timeout_s)
        call = _Call(config, build_request(config, request, Written()), reading)
        self._findings.requests += 1
        async with aclosing(call.stream()) as parts:
            async for part in parts:
                if isinstance(part, ModelReply):
                    self._findings.usage += part.usage
                    return _Answer(part, "event-stream" in call.content_type.lower())
        raise ModelError(ErrorKind.EMPTY_RESPONSE, "The model server ended the answer without saying anything.")


def _may_be_a_setting(error: ModelError) -> bool:
    """Whether the server refused this request only, so that another may be taken."""
    return error.kind in (ErrorKind.PROVIDER_ERROR, ErrorKind.BAD_RESPONSE) and not error.retryable


def _keeps(text: str, structured: Structured) -> bool:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if structured is Structured.JSON_OBJECT:
        return isinstance(found, dict)
    return isinstance(found, dict) and set(found) == {"greeting", "mood"} and found["mood"] in ("calm", "merry")
