"""The scripted model's turns as the bytes of an OpenAI-compatible server."""

import asyncio
import json
import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from hashlib import sha256
from typing import Any

from agentweb.engine.messages import Json
from agentweb.llm.config import ToolProtocol
from agentweb.llm.recorded import SCRIPTED_NAME
from agentweb.llm.scripted.brain import respond
from agentweb.llm.scripted.forms import protocol_of, written
from agentweb.llm.scripted.turn import Call, Turn

_TOKEN = re.compile(r"[\u3000-\u9fff\uff00-\uffef]{1,2}|[ ]?[^\s\u3000-\u9fff\uff00-\uffef]{1,12}|\s+")
_ARGUMENT_PIECE = 48  # characters; a person reads the card, not the stream
_LONG_LINE = 600  # characters
_PIECES_PER_PAUSE = 32  # without a delay, how many pieces go out before others get a turn


def tokens(text: str) -> list[str]:
    """Text in pieces of about a word; joined they are the text."""
    return _TOKEN.findall(text)


async def stream_bytes(body: Mapping[str, Json], delay_s: float) -> AsyncGenerator[bytes, None]:
    """The event stream for a request body, ``delay_s`` seconds before each piece."""
    for number, chunk in enumerate(chunks(body)):
        if delay_s or number % _PIECES_PER_PAUSE == 0:
            await asyncio.sleep(delay_s)
        yield b"data: " + json.dumps(chunk, ensure_ascii=False).encode() + b"\n\n"
    yield b"data: [DONE]\n\n"


def chunks(body: Mapping[str, Json]) -> Iterator[dict[str, Any]]:
    turn = _spoken(body)
    for piece in tokens(turn.thinking):
        yield _chunk(body, {"reasoning_content": piece})
    for piece in tokens(turn.text) if turn.calls or protocol_of(body) is ToolProtocol.NATIVE else _pieces(turn.text):
        yield _chunk(body, {"content": piece})
    for index, call in enumerate(turn.calls):
        yield from (_chunk(body, {"tool_calls": [delta]}) for delta in _call_deltas(body, index, call))
    yield _chunk(body, {}, "tool_calls" if turn.calls else "stop")
    yield {**_chunk(body, {}), "choices": [], "usage": usage(body, turn)}


def _spoken(body: Mapping[str, Json]) -> Turn:
    """What the server sends: a turn, which in some protocols is text and nothing else."""
    turn, protocol = respond(body), protocol_of(body)
    return turn if protocol is ToolProtocol.NATIVE else Turn(text=written(turn, protocol))


def _pieces(text: str) -> Iterator[str]:
    """Words, but long lines such as those of a file that is written go out in fewer pieces."""
    for line in text.splitlines(keepends=True):
        yield from tokens(line) if len(line) < _LONG_LINE else _slices(line)


def _slices(text: str) -> Iterator[str]:
    return (text[at : at + _ARGUMENT_PIECE] for at in range(0, len(text), _ARGUMENT_PIECE))


def _call_deltas(body: Mapping[str, Json], index: int, call: Call) -> Iterator[dict[str, Any]]:
    yield {
        "index": index,
        "id": call_id(body, index),
        "type": "function",
        "function": {"name": call.name, "arguments": ""},
    }
    for piece in _slices(call.arguments):
        yield {"index": index, "function": {"arguments": piece}}


def call_id(body: Mapping[str, Json], index: int) -> str:
    """The same for the same conversation, different in each turn."""
    seed = json.dumps([body.get("messages"), index], sort_keys=True, default=str)
    return f"call_{sha256(seed.encode('utf-8', 'replace')).hexdigest()[:16]}"


def usage(body: Mapping[str, Json], turn: Turn) -> dict[str, Any]:
    """Counted alike each time: a token per piece of output, one per four characters of input."""
    thought = len(tokens(turn.thinking))
    calls = sum(-(-len(call.arguments) // 4) for call in turn.calls)
    sent = len(json.dumps([body.get("messages"), body.get("tools")], ensure_ascii=False, default=str)) // 4
    answered = thought + len(tokens(turn.text)) + calls
    return {
        "prompt_tokens": sent,
        "completion_tokens": answered,
        "total_tokens": sent + answered,
        "completion_tokens_details": {"reasoning_tokens": thought},
    }


def completion(body: Mapping[str, Json]) -> dict[str, Any]:
    """The whole answer at once, for clients that do not stream."""
    turn = _spoken(body)
    calls = [
        {
            "id": call_id(body, index),
            "type": "function",
            "function": {"name": call.name, "arguments": call.arguments},
        }
        for index, call in enumerate(turn.calls)
    ]
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if turn.thinking:
        message["reasoning_content"] = turn.thinking
    if calls:
        message["tool_calls"] = calls
    finish = "tool_calls" if calls else "stop"
    return {
        **_frame(body, "chat.completion"),
        "choices": [{"index": 0, "message": message, "finish_reason": finish}],
        "usage": usage(body, turn),
    }


def _frame(body: Mapping[str, Json], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-scripted", "object": kind, "created": 0, "model": str(body.get("model") or SCRIPTED_NAME)}


def _chunk(body: Mapping[str, Json], delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
    return {
        **_frame(body, "chat.completion.chunk"),
        "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
    }
