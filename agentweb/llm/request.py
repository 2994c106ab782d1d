"""One request in its final form: the body as bytes, its digest, and the names to read the answer with."""

from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from agentweb.engine.enums import Purpose
from agentweb.engine.ports import ModelRequest
from agentweb.llm.config import ModelConfig
from agentweb.llm.history import build_messages
from agentweb.llm.identifiers import accepted_ids
from agentweb.llm.names import WireNames
from agentweb.llm.protocols.answers import AnswerReader
from agentweb.llm.protocols.chosen import protocol_for
from agentweb.llm.thinking import thinking_fields
from agentweb.llm.written import Written, as_json

WRAP_UP_INSTRUCTION = (
    "The limit of this run is reached, so no more tools can be used. Write the last message now, in the language of "
    "the conversation: say what is done, what is not done, and what the next step would be. Do not call any tool."
)


@dataclass(frozen=True, slots=True)
class WireRequest:
    """``content`` is exactly what is sent; ``digest`` its SHA-256. ``reader`` reads the text of the answer to it, with
    ids for the calls in it."""

    body: dict[str, Any]
    content: bytes = field(repr=False)
    digest: str
    names: WireNames
    reader: Callable[[Callable[[], str]], AnswerReader] = field(repr=False, compare=False)


def build_request(config: ModelConfig, request: ModelRequest, written: Written | None = None) -> WireRequest:
    """The body for a streamed chat completion. Fields of ``config.body`` win over ours. ``written`` is of the run's
    requests before."""
    written = written or Written()
    names = WireNames(spec.name for spec in request.tools)
    protocol = protocol_for(config, request, names)
    messages = build_messages(
        protocol.system(request.system),
        request.messages,
        names,
        strict_roles=config.strict_roles,
        send_thinking=config.send_thinking,
        form=protocol.form,
        ids=accepted_ids(config.base_url),
        written=written,
    )
    body: dict[str, Any] = {"model": config.model, "messages": messages, "stream": config.can.streams}
    if config.can.streams and config.can.stream_usage:
        body["stream_options"] = {"include_usage": True}
    if config.temperature is not None:
        body["temperature"] = config.temperature
    body.update(protocol.fields())
    body.update(thinking_fields(config, request))
    if request.purpose is Purpose.WRAP_UP:
        _wrap_up(body, strict_roles=config.strict_roles)
    body.update(config.body)
    content = _content(body, written).encode("utf-8", "replace")
    return WireRequest(body, content, sha256(content).hexdigest(), names, protocol.reader)


def _content(body: dict[str, Any], written: Written) -> str:
    """The body as JSON, put together from what is written already."""
    parts = []
    for name, value in body.items():
        ours = name == "messages" and isinstance(value, list)
        whole = "[" + ",".join(map(written.text, value)) + "]" if ours else as_json(value)
        parts.append(f"{as_json(name)}:{whole}")
    return "{" + ",".join(parts) + "}"


def _wrap_up(body: dict[str, Any], *, strict_roles: bool) -> None:
    messages = body["messages"]
    if strict_roles and messages and messages[-1]["role"] == "user":
        messages[-1] = {"role": "user", "content": f"{messages[-1]['content']}\n\n{WRAP_UP_INSTRUCTION}"}
    else:
        messages.append({"role": "user", "content": WRAP_UP_INSTRUCTION})
